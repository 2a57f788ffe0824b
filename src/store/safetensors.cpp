#include "store/safetensors.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

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
// As it is stored (base/fields.h).
struct StoredTensor {
  string dtype = "F32";
  Shape shape;
  vector<uint64_t> data_offsets;
};
void fields(StoredTensor& t, auto visit) {
  visit("dtype", t.dtype, "shape", t.shape, "data_offsets", t.data_offsets);
}

namespace {

[[noreturn]] void fail_tensor(const string& file, const string& tensor, const string& what) {
  throw store_error("{}: tensor {}: {}", file, shown(tensor), what);
}

TensorEntry checked_entry(const string& file, const string& name, const StoredTensor& tensor) {
  if (tensor.dtype != "F32")
    fail_tensor(file, name, fmt::format("dtype is {}, expected \"F32\"", shown(tensor.dtype)));
  const auto& offsets = tensor.data_offsets;
  if (offsets.size() != 2) fail_tensor(file, name, "it needs two data_offsets");
  const TensorEntry entry{name, tensor.shape, offsets[0], offsets[1]};
  uint64_t bytes = sizeof(float);
  for (const int64_t size : entry.shape)
    if (size < 0 || __builtin_mul_overflow(bytes, uint64_t(size), &bytes))
      fail_tensor(file, name, fmt::format("shape {} is too large", to_string(entry.shape)));
  if (entry.begin > entry.end || entry.end - entry.begin != bytes)
    fail_tensor(file, name,
                fmt::format("shape {} needs {} bytes, data_offsets are [{}, {}]",
                            to_string(entry.shape), bytes, entry.begin, entry.end));
  return entry;
}

static_assert(std::endian::native == std::endian::little, "safetensors files are little-endian");

}  // namespace

string to_string(const Shape& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

vector<TensorEntry> parse_safetensors_header(string_view text, uint64_t data_size,
                                             const string& file) {
  const JsonSource source{.name = file + " (header)", .depth = 3};
  Json header = parse_strict_json(text, source);
  if (header.is_object()) header.erase("__metadata__");
  ByName<StoredTensor> tensors;
  Faults faults;
  read_json(header, tensors, faults);
  if (!faults.first().empty()) source.fail(faults.first());
  vector<TensorEntry> entries;
  for (const auto& [name, tensor] : tensors) entries.push_back(checked_entry(file, name, tensor));
  ranges::stable_sort(entries, {}, [](const TensorEntry& e) { return pair(e.begin, e.end); });
  uint64_t end = 0;  // of the data covered so far
  for (const TensorEntry& entry : entries) {
    if (entry.begin != end)
      fail_tensor(file, entry.name,
                  fmt::format("data_offsets [{}, {}] do not begin at {}, where the tensor before "
                              "ends",
                              entry.begin, entry.end, end));
    end = entry.end;
  }
  if (end != data_size)
    throw store_error("{}: its tensors have {} bytes, the file has {} for them", file, end,
                      data_size);
  return entries;
}

string format_safetensors_header(const vector<TensorEntry>& entries) {
  string text = R"({"__metadata__":{"format":"pt"})";
  for (const TensorEntry& entry : entries)
    text += "," + text_of(entry.name) + ":" +
            text_of(StoredTensor{.shape = entry.shape, .data_offsets = {entry.begin, entry.end}});
  text += '}';
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return bytes_of(uint64_t{text.size()}) + text;
}

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
  vector<TensorEntry> entries;
  uint64_t end = 0;
  for (const TensorSlot& tensor : tensors) {
    const uint64_t begin = exchange(end, end + 4 * numbers_in(tensor.shape));
    entries.push_back({tensor.name, tensor.shape, begin, end});
  }
  const string header = format_safetensors_header(entries);
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

vector<TensorEntry> list_safetensors(InputFile& file) {
  const string name = file.name();
  uint64_t length = 0, rest = file.size();
  if (rest >= sizeof length) {
    file.read_exactly(std::as_writable_bytes(span(&length, 1)));
    rest -= sizeof length;
  }
  const uint64_t most = min(rest, kMaxSafetensorsHeader);
  if (file.size() < sizeof length || length > most)
    throw store_error(
        "{}: {} bytes with a header of {}, expected at most {}: it is cut "
        "short, or no safetensors file",
        name, file.size(), length, most);
  string header(length, '\0');
  file.read_exactly(std::as_writable_bytes(span(header)));
  return parse_safetensors_header(header, rest - length, name);
}

void read_safetensors(InputFile& file, span<const TensorSlot> slots) {
  const vector<TensorEntry> entries = list_safetensors(file);
  const auto refuse = [&](const string& tensor, const string& what) {
    fail_tensor(file.name(), tensor, what);
  };
  vector<const TensorSlot*> targets;  // parallel to entries
  for (const TensorEntry& entry : entries) {
    const auto slot = ranges::find(slots, entry.name, &TensorSlot::name);
    if (slot == slots.end()) refuse(entry.name, "the model has none of this name");
    if (slot->shape != entry.shape)
      refuse(entry.name, fmt::format("its shape is {}, the model's is {}", to_string(entry.shape),
                                     to_string(slot->shape)));
    targets.push_back(&*slot);
  }
  for (const TensorSlot& slot : slots)
    if (ranges::count(entries, slot.name, &TensorEntry::name) == 0)
      refuse(slot.name, "it is missing");
  for (const TensorSlot* slot : targets)
    file.read_exactly(std::as_writable_bytes(span(slot->data, numbers_in(slot->shape))));
}

}  // namespace heed
