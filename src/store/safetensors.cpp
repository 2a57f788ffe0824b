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

// Of tensors one after another.
ByName<TensorEntry> entries_of(span<const TensorSlot> tensors) {
  ByName<TensorEntry> entries;
  uint64_t end = 0;
  for (const TensorSlot& t : tensors) {
    const uint64_t begin = exchange(end, end + sizeof(float) * numbers_in(t.shape));
    entries.push_back({t.name, {.shape = t.shape, .data_offsets = {begin, end}}});
  }
  return entries;
}

string nth(const ByName<TensorEntry>& entries, size_t i) {
  if (i >= entries.size()) return "none";
  return replace_all(shown(Json(entries[i].first)) + " " + shown(Json(entries[i].second)), ",",
                     ", ");
}

}  // namespace

uint64_t numbers_in(const Shape& shape) {
  return accumulate(shape.begin(), shape.end(), uint64_t{1}, std::multiplies<>());
}

TensorSlot tensor_slot(string name, const ParamInfo& info, float* data) {
  const Param& p = info.param;
  return {name, info.vector ? Shape{p.cols} : Shape{p.rows, p.cols}, data};
}

vector<TensorSlot> tensor_slots(const ParamTable& table, ParamVec<float>& values,
                                const string& prefix) {
  assert(values.size() == table.size());
  return mapped(table.infos(), [&](const ParamInfo& info) {
    return tensor_slot(prefix + info.name, info, values.data() + info.param.offset);
  });
}

string write_safetensors(const fs::path& path, span<const TensorSlot> tensors,
                         const function<void()>& after_tensor) {
  OutputFile file(path);
  Sha256 hash;
  const auto put = [&](span<const std::byte> bytes) {
    hash.update(bytes);
    file.write(bytes);
  };
  string header = R"({"__metadata__":{"format":"pt"})";
  for (const auto& [name, entry] : entries_of(tensors))
    header += "," + text_of(name) + ":" + text_of(entry);
  header += '}';
  header.resize((header.size() + 7) / 8 * 8, ' ');
  header = bytes_of(uint64_t{header.size()}) + header;
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

ByName<TensorEntry> list_safetensors(InputFile& file) {
  constexpr uint64_t kMost = 16 << 20;  // heed's own headers stay far below
  uint64_t length = file.size();
  if (length >= sizeof length) file.read_exactly(std::as_writable_bytes(span(&length, 1)));
  if (sizeof length + length > file.size() || length > kMost)
    throw store_error("{}: {} bytes with a header of {}: it is cut short, or no safetensors file",
                      file.name().string(), file.size(), length);
  string header(length, '\0');
  file.read_exactly(std::as_writable_bytes(span(header)));
  const JsonSource source{.name = file.name().string() + " (header)", .depth = 3};
  Json json = parse_strict_json(header, source);
  if (json.is_object()) json.erase("__metadata__");
  ByName<TensorEntry> entries;
  Faults faults;
  read_json(json, entries, faults);
  if (!faults.first().empty()) source.fail(faults.first());
  ranges::stable_sort(
      entries, {}, [](const auto& e) -> auto& { return e.second.data_offsets; });
  uint64_t size = sizeof length + length;
  if (!entries.empty() && !entries.back().second.data_offsets.empty())
    size += entries.back().second.data_offsets.back();
  if (file.size() != size)
    throw store_error("{}: {} bytes, expected {}: it is cut short, or no safetensors file",
                      file.name().string(), file.size(), size);
  return entries;
}

void read_safetensors(InputFile& file, span<const TensorSlot> slots) {
  const ByName<TensorEntry> found = list_safetensors(file);
  vector<TensorSlot> order(slots.begin(), slots.end());
  map<string, size_t> places;  // what the file lacks comes last
  for (const auto& [name, entry] : found) places.emplace(name, places.size());
  for (const TensorSlot& slot : slots) places.emplace(slot.name, places.size());
  ranges::stable_sort(order, {}, [&](const TensorSlot& slot) { return places.at(slot.name); });
  if (const auto expected = entries_of(order); found != expected) {
    const size_t i = ranges::mismatch(found, expected).in1 - found.begin();
    throw store_error("{}: tensor {}, expected {}", file.name().string(), nth(found, i),
                      nth(expected, i));
  }
  for (const TensorSlot& slot : order)
    file.read_exactly(std::as_writable_bytes(span(slot.data, numbers_in(slot.shape))));
}

}  // namespace heed
