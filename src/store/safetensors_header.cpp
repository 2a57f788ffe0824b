#include "store/safetensors_header.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/json_object.h"

namespace heed {
namespace {

[[noreturn]] void fail_file(const std::string& file, const std::string& what) {
  throw Error(Exit::store, fmt::format("{}: {}", file, what));
}
[[noreturn]] void fail_tensor(const std::string& file, const std::string& tensor,
                              const std::string& what) {
  fail_file(file, fmt::format("tensor {}: {}", shown(tensor), what));
}

TensorEntry read_entry(const std::string& file, const std::string& name, JsonObject tensor) {
  if (const std::string dtype = tensor.text("dtype"); dtype != "F32")
    fail_tensor(file, name, fmt::format("dtype is {}, expected \"F32\"", shown(dtype)));
  const std::vector<std::uint64_t> shape = tensor.unsigned_numbers("shape");
  const std::vector<std::uint64_t> offsets = tensor.unsigned_numbers("data_offsets");
  tensor.finish();
  if (shape.size() > kMaxTensorRank)
    fail_tensor(file, name, fmt::format("more than {} sizes in its shape", kMaxTensorRank));
  if (offsets.size() != 2) fail_tensor(file, name, "it needs two data_offsets");
  TensorEntry entry{name, {shape.begin(), shape.end()}, offsets[0], offsets[1]};
  if (entry.begin > entry.end) fail_tensor(file, name, "data_offsets end before they begin");
  std::uint64_t bytes = sizeof(float);
  for (const std::int64_t size : entry.shape)
    if (size < 0 || __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(size), &bytes))
      fail_tensor(file, name, fmt::format("shape {} is too large", to_string(entry.shape)));
  if (entry.end - entry.begin != bytes)
    fail_tensor(file, name,
                fmt::format("shape {} needs {} bytes, data_offsets give it {}",
                            to_string(entry.shape), bytes, entry.end - entry.begin));
  return entry;
}

}  // namespace

std::string to_string(const Shape& shape) {
  std::string text;
  for (const std::int64_t size : shape) text += fmt::format("{}{}", text.empty() ? "" : ", ", size);
  return fmt::format("[{}]", text);
}

std::vector<TensorEntry> parse_safetensors_header(std::string_view text, std::uint64_t data_size,
                                                  const std::string& file) {
  JsonObject header = JsonObject::parse(text, {.name = file + " (header)", .depth = 3});
  std::vector<TensorEntry> entries;
  for (const std::string& name : header.keys()) {
    JsonObject member = header.object(name);
    if (name == "__metadata__") {
      for (const std::string& key : member.keys()) member.text(key);
    } else {
      entries.push_back(read_entry(file, name, std::move(member)));
    }
  }
  std::ranges::stable_sort(entries, {},
                           [](const TensorEntry& e) { return std::pair(e.begin, e.end); });
  std::uint64_t end = 0;  // of the data covered so far
  const TensorEntry* before = nullptr;
  for (const TensorEntry& entry : entries) {
    const std::string where = fmt::format("data_offsets [{}, {}] ", entry.begin, entry.end);
    if (entry.end > data_size)
      fail_tensor(
          file, entry.name,
          fmt::format("{}reach beyond the {} bytes of data the file has", where, data_size));
    if (entry.begin % sizeof(float) != 0)
      fail_tensor(file, entry.name, where + "do not begin at a multiple of 4");
    if (entry.begin < end)
      fail_tensor(file, entry.name, where + "overlap those of " + shown(before->name));
    if (entry.begin > end)
      fail_tensor(file, entry.name, fmt::format("{}leave a hole after byte {}", where, end));
    end = entry.end;
    before = &entry;
  }
  if (end != data_size)
    fail_file(file, fmt::format("{} bytes after the last tensor", data_size - end));
  return entries;
}

std::string format_safetensors_header(const std::vector<TensorEntry>& entries) {
  std::string text = R"({"__metadata__":{"format":"pt"})";
  for (const TensorEntry& entry : entries)
    text += fmt::format(R"(,{}:{{"dtype":"F32","shape":{},"data_offsets":[{},{}]}})",
                        nlohmann::json(entry.name).dump(), nlohmann::json(entry.shape).dump(),
                        entry.begin, entry.end);
  text += '}';
  text.resize((text.size() + 7) / 8 * 8, ' ');
  std::string length(8, '\0');
  for (int i = 0; i < 8; ++i) length[i] = static_cast<char>(text.size() >> (8 * i));
  return length + text;
}

}  // namespace heed
