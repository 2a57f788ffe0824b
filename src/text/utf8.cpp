#include "text/utf8.h"

#include <utf8proc.h>

#include <array>

namespace heed {

std::string encode_utf8(char32_t c) {
  std::array<utf8proc_uint8_t, 4> bytes;
  const auto length = utf8proc_encode_char(static_cast<utf8proc_int32_t>(c), bytes.data());
  return {reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(length)};
}

std::string to_lower(std::string_view text) {
  std::string lower;
  lower.reserve(text.size());
  each_code_point(text, [&](CodePoint c, std::size_t at) {
    const auto value = static_cast<utf8proc_int32_t>(c.value);
    const auto mapped = utf8proc_tolower(value);  // invalid ones stay
    if (mapped == value)
      lower += text.substr(at, c.length);
    else
      lower += encode_utf8(static_cast<char32_t>(mapped));
  });
  return lower;
}

bool is_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 ||
         c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
         c == 0x205F || c == 0x3000;
}

std::vector<std::string_view> split_words(std::string_view text) {
  return parts_between(text, is_space);
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t newline = text.find('\n');
    std::string_view line = text.substr(0, newline);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
  }
  return lines;
}

}  // namespace heed
