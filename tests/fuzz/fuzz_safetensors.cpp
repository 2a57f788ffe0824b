// A whole safetensors file. What is accepted can be read, written again and is then the same.
#include "fuzz.h"
#include "store/safetensors.h"

using namespace heed;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const FuzzFolder folder;
  const std::string path = folder.write("in", view(data, size));
  try {
    InputFile file(path);
    const ByName<TensorEntry> entries = list_safetensors(file);
    std::vector<std::vector<float>> numbers;
    std::vector<TensorSlot> slots;
    for (const auto& [name, entry] : entries) {
      if (numbers_in(entry.shape) > size) return 0;
      slots.push_back({name, entry.shape, numbers.emplace_back(numbers_in(entry.shape)).data()});
    }
    file.rewind();
    read_safetensors(file, slots);
    const std::string copy = folder.path("out");
    write_safetensors(copy, slots);
    InputFile copied(copy);
    expect(list_safetensors(copied) == entries);
  } catch (const Error&) {
  }
  return 0;
}
