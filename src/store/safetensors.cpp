#include "store/safetensors.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <utility>

#include "base/fields.h"
#include "base/files.h"
#include "base/format.h"
#include "base/sha256.h"
#include "base/std_names.h"

namespace heed {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors files are little-endian");

string header_of(span<const TensorSlot> tensors) {
  string text = R"({"__metadata__":{"format":"pt"})";
  uint64_t end = 0;
  for (const TensorSlot& t : tensors) {
    const uint64_t begin = exchange(end, end + sizeof(float) * numbers_in(t.shape));
    const Json entry = {{"dtype", "F32"}, {"shape", t.shape}, {"data_offsets", {begin, end}}};
    text += "," + text_of(t.name) + ":" + text_of(entry);
  }
  text += '}';
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return bytes_of(uint64_t{text.size()}) + text;
}

}  // namespace

uint64_t numbers_in(const Shape& shape) {
  uint64_t product = 1;
  for (const int64_t size : shape) product *= size;
  return product;
}

TensorSlot tensor_slot(string name, const ParamInfo& info, float* data) {
  const Param& p = info.param;
  return {name, info.vector ? Shape{p.cols} : Shape{p.rows, p.cols}, data};
}

vector<TensorSlot> tensor_slots(const ParamTable& table, ParamVec<float>& values,
                                const string& prefix) {
  assert(values.size() == table.size());
  vector<TensorSlot> all;
  for (const ParamInfo& info : table.infos())
    all.push_back(tensor_slot(prefix + info.name, info, values.data() + info.param.offset));
  return all;
}

string write_safetensors(const fs::path& path, span<const TensorSlot> tensors,
                         const function<void()>& after_tensor) {
  OutputFile file(path);
  Sha256 hash;
  const auto put = [&](span<const std::byte> bytes) {
    hash.update(bytes);
    file.write(bytes);
  };
  const string header = header_of(tensors);
  put(std::as_bytes(span(header)));
  for (const TensorSlot& tensor : tensors) {
    auto rest = std::as_bytes(span(tensor.data, numbers_in(tensor.shape)));
    // Pieces small enough to stay in the cache between hashing and writing.
    while (!rest.empty()) {
      const size_t n = min<size_t>(rest.size(), 1 << 18);
      put(rest.first(n));
      rest = rest.subspan(n);
    }
    after_tensor();
  }
  file.finish();
  return hash.hex();
}

uint64_t count_numbers(InputFile& file) {
  uint64_t length = 0;
  file.read_exactly(std::as_writable_bytes(span(&length, 1)));
  constexpr uint64_t kMost = 16 << 20;  // heed's own stay far below
  string header(min({length, file.size(), kMost}), '\0');
  file.read_exactly(std::as_writable_bytes(span(header)));
  const uint64_t data = strtoull(header.c_str() + header.rfind(',') + 1, nullptr, 10);
  if (length > kMost || file.size() != sizeof length + length + data)
    throw store_error("{}: {} bytes, expected {}", file.name().string(), file.size(),
                      sizeof length + length + data);
  return data / sizeof(float);
}

void read_safetensors(InputFile& file, span<const TensorSlot> slots) {
  const string expected = header_of(slots);
  string found(min(expected.size(), file.size()), '\0');
  file.read_exactly(std::as_writable_bytes(span(found)));
  if (found != expected)
    throw store_error("{}: its tensors are not those of the config", file.name().string());
  for (const TensorSlot& slot : slots)
    file.read_exactly(std::as_writable_bytes(span(slot.data, numbers_in(slot.shape))));
}

}  // namespace heed
