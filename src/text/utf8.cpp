#include "text/utf8.h"

#include <fmt/core.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdio>

namespace heed {
namespace {

bool is_continuation(unsigned char byte) {
  return (byte & 0xC0) == 0x80;
}

}  // namespace

CodePoint code_point_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const std::size_t left = text.size() - at;
  const unsigned char first = byte(0);
  if (first < 0x80) return {first, 1};
  const CodePoint invalid{kInvalidCodePoint, 1};
  const int length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || left < static_cast<std::size_t>(length)) return invalid;
  char32_t value = first & (0x7F >> length);
  for (int i = 1; i < length; ++i) {
    if (!is_continuation(byte(i))) return invalid;
    value = value << 6 | (byte(i) & 0x3F);
  }
  const bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (overlong || surrogate || value > 0x10FFFF) return invalid;
  return {value, length};
}

std::size_t find_invalid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    if (static_cast<unsigned char>(text[at]) < 0x80) {
      ++at;
      continue;
    }
    const CodePoint c = code_point_at(text, at);
    if (c.value == kInvalidCodePoint) return at;
    at += c.length;
  }
  return std::string_view::npos;
}

std::string encode_utf8(char32_t c) {
  std::array<utf8proc_uint8_t, 4> bytes;
  const auto length = utf8proc_encode_char(static_cast<utf8proc_int32_t>(c), bytes.data());
  return {reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(length)};
}

std::size_t utf8_floor(std::string_view text, std::size_t at) {
  if (at >= text.size()) return text.size();
  std::size_t start = at;
  for (int i = 0; i < 3 && start > 0 && is_continuation(text[start]); ++i) --start;
  return is_continuation(text[start]) ? at : start;
}

std::string to_lower(std::string_view text) {
  std::string lower;
  lower.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = code_point_at(text, at);
    if (c.value < 0x80) {
      const char ascii = text[at];
      lower += ascii >= 'A' && ascii <= 'Z' ? static_cast<char>(ascii + 32) : ascii;
    } else if (c.value == kInvalidCodePoint) {
      lower += text[at];
    } else {
      const auto value = static_cast<utf8proc_int32_t>(c.value);
      const auto mapped = utf8proc_tolower(value);
      lower += mapped == value ? std::string(text.substr(at, c.length))
                               : encode_utf8(static_cast<char32_t>(mapped));
    }
    at += c.length;
  }
  return lower;
}

std::string printable(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = code_point_at(text, at);
    if (c.value == '\n') {
      out += "\\n";
    } else if (c.value == '\t') {
      out += "\\t";
    } else if (c.value == '\r') {
      out += "\\r";
    } else if (c.value < 0x20 || c.value == 0x7F || c.value == kInvalidCodePoint) {
      std::array<char, 8> hex;
      std::snprintf(hex.data(), hex.size(), "<0x%02X>", static_cast<unsigned char>(text[at]));
      out += hex.data();
    } else {
      out += text.substr(at, c.length);
    }
    at += c.length;
  }
  return out;
}

bool is_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 ||
         c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
         c == 0x205F || c == 0x3000;
}

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = code_point_at(text, at);
    if (is_space(c.value)) {
      if (at > begin) words.push_back(text.substr(begin, at - begin));
      begin = at + c.length;
    }
    at += c.length;
  }
  if (begin < text.size()) words.push_back(text.substr(begin));
  return words;
}

std::string code_point_name(char32_t code_point) {
  return fmt::format("U+{:04X}", static_cast<unsigned>(code_point));
}

}  // namespace heed
