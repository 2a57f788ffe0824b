#include "store/event_file.h"

#include <fmt/core.h>

#include <chrono>

#include "base/folders.h"
#include "base/format.h"

namespace heed {
namespace fs = std::filesystem;
namespace {

// How the value of a field is encoded.
enum class Encoding { varint = 0, eight_bytes = 1, bytes = 2, four_bytes = 5 };

std::string varint(std::uint64_t n) {
  std::string bytes;
  for (; n >= 0x80; n >>= 7) bytes += static_cast<char>(n | 0x80);
  return bytes + static_cast<char>(n);
}

std::string event_field(int number, Encoding encoding, const std::string& value) {
  return varint(8 * number + static_cast<int>(encoding)) +
         (encoding == Encoding::bytes ? varint(value.size()) : "") + value;
}
std::string message(int number, const std::string& value) {
  return event_field(number, Encoding::bytes, value);
}

// Event.summary with one value.
std::string summary(const std::string& tag, const std::string& value) {
  return message(5, message(1, message(1, tag) + value));
}

std::string masked_crc(std::string_view bytes) {
  const std::uint32_t crc = crc32c(bytes);
  return bytes_of(((crc >> 15) | (crc << 17)) + 0xa282ead8u);  // as TFRecord masks it
}

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// Sorted names are in the order of the starts.
fs::path new_name(const fs::path& folder) {
  if (!make_folder(folder) && type_of(folder) != fs::file_type::directory)
    throw Error(Exit::store, quoted_path(folder) + " is no folder");
  return folder / fmt::format("events.out.tfevents.{:.6f}", seconds_since_1970());
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
  add(0, message(3, "brain.Event:2"));                              // file_version
  add(0, message(7, event_field(1, Encoding::varint, varint(1))));  // session_log.status START
}

void EventFile::scalar(std::int64_t step, const std::string& tag, float value) {
  add(step, summary(tag, event_field(2, Encoding::four_bytes, bytes_of(value))));  // simple_value
}

// A tensor (8) of one string, its shape (2) that of a scalar, for the plugin (9) "text", which
// reads Markdown: indented lines are shown as they are.
void EventFile::text(std::int64_t step, const std::string& tag, const std::string& text) {
  const std::string shown = "    " + replace_all(text, "\n", "\n    "),
                    tensor = event_field(1, Encoding::varint, varint(7)) + message(2, "") +
                             message(8, shown);
  add(step, summary(tag, message(8, tensor) + message(9, message(1, message(1, "text")))));
}

void EventFile::add(std::int64_t step, const std::string& fields) {
  const std::string event =
                        event_field(1, Encoding::eight_bytes, bytes_of(seconds_since_1970())) +
                        event_field(2, Encoding::varint, varint(static_cast<std::uint64_t>(step))) +
                        fields,
                    size = bytes_of(std::uint64_t{event.size()});
  write(size + masked_crc(size) + event + masked_crc(event));
}

}  // namespace heed
