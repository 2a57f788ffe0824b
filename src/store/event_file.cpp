#include "store/event_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "base/files.h"
#include "base/format.h"
#include "base/protobuf.h"

namespace heed {
namespace fs = std::filesystem;
namespace {

// Event.summary with one value.
std::string summary(const std::string& tag, const std::string& value) {
  return proto_bytes(5, proto_bytes(1, proto_bytes(1, tag) + value));
}

std::string masked_crc(std::string_view bytes) {
  const std::uint32_t crc = crc32c(bytes);
  return bytes_of(((crc >> 15) | (crc << 17)) + 0xa282ead8u);  // as TFRecord masks it
}

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// Sorted names are in the order of the starts, even if the clock was set back between them.
fs::path new_name(const fs::path& folder) {
  constexpr std::string_view kBegin = "events.out.tfevents.";
  if (!make_folder(folder) && type_of(folder) != fs::file_type::directory)
    throw Error(Exit::store, quoted_path(folder) + " is no folder");
  double seconds = seconds_since_1970();
  for (const std::string& name : names_in(folder))
    if (name.starts_with(kBegin))
      seconds = std::max(seconds, 1 + std::atof(name.c_str() + kBegin.size()));
  return folder / fmt::format("{}{:.6f}", kBegin, seconds);
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  std::uint32_t crc = ~0u;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc % 2 ? 0x82f63b78u : 0u);
  }
  return ~crc;
}

EventFile::EventFile(const fs::path& folder) : OutputFile(new_name(folder)) {
  add(0, proto_bytes(3, "brain.Event:2"));     // file_version
  add(0, proto_bytes(7, proto_number(1, 1)));  // session_log.status START
}

void EventFile::scalar(std::int64_t step, const std::string& tag, float value) {
  add(step, summary(tag, proto_fixed(2, value)));  // simple_value
}

// A tensor (8) of one string, its shape (2) that of a scalar, for the plugin (9) "text", which
// reads Markdown: indented lines are shown as they are.
void EventFile::text(std::int64_t step, const std::string& tag, const std::string& text) {
  const std::string shown = "    " + replace_all(text, "\n", "\n    "),
                    tensor = proto_number(1, 7) + proto_bytes(2, "") + proto_bytes(8, shown),
                    plugin = proto_bytes(1, proto_bytes(1, "text"));
  add(step, summary(tag, proto_bytes(8, tensor) + proto_bytes(9, plugin)));
}

void EventFile::add(std::int64_t step, const std::string& fields) {
  const std::string event = proto_fixed(1, seconds_since_1970()) +
                            proto_number(2, static_cast<std::uint64_t>(step)) + fields,
                    size = bytes_of(std::uint64_t{event.size()});
  write(size + masked_crc(size) + event + masked_crc(event));
}

}  // namespace heed
