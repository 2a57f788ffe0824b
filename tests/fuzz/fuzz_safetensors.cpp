// A whole safetensors file. What is accepted can be read, written again and is then the same.
#include "fuzz.h"
#include "store/safetensors.h"

using namespace heed;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const FuzzFolder folder;
  const std::string path = folder.write("in", view(data, size));
  try {
    InputFile file(path);
    const std::vector<TensorEntry> entries = list_safetensors(file);
    std::vector<std::vector<float>> numbers;
    for (const TensorEntry& e : entries) numbers.emplace_back((e.end - e.begin) / sizeof(float));
    std::vector<TensorSlot> slots;
    for (std::size_t i = 0; i < entries.size(); ++i)
      slots.push_back({entries[i].name, entries[i].shape, numbers[i].data()});
    file.rewind();
    read_safetensors(file, slots);
    const std::string copy = folder.path("out");
    write_safetensors(copy, slots);
    InputFile copied(copy);
    const std::vector<TensorEntry> again = list_safetensors(copied);
    expect(again.size() == entries.size());
    for (std::size_t i = 0; i < entries.size(); ++i) {
      expect(again[i].name == entries[i].name && again[i].shape == entries[i].shape &&
             again[i].begin == entries[i].begin && again[i].end == entries[i].end);
    }
  } catch (const Error&) {
  }
  return 0;
}
