#include "base/utf8.h"
#include "base/std_names.h"

#include <fmt/core.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <utility>

namespace heed {
namespace {

bool is_continuation(unsigned char byte) {
  return (byte & 0xC0) == 0x80;
}

// Controls (C0, C1), and the format characters of Unicode that turn, end or hide a line or a part
// of it; not those that scripts need between letters (U+200B to U+200D).
constexpr pair<char32_t, char32_t> kControls[] = {
    {0x00, 0x1F},     {0x7F, 0x9F},       {0x61C, 0x61C},    {0x180E, 0x180E},
    {0x200E, 0x200F}, {0x2028, 0x202E},   {0x2060, 0x206F},  {0xFEFF, 0xFEFF},
    {0xFFF9, 0xFFFB}, {0x1D173, 0x1D17A}, {0xE0001, 0xE0001}};

bool is_control(char32_t c) {
  return ranges::any_of(kControls,
                        [c](const auto& range) { return range.first <= c && c <= range.second; });
}

// A control or an invalid byte, escaped.
string escaped(CodePoint c, char byte) {
  for (const auto& [control, name] : {pair{'\n', "\\n"}, {'\t', "\\t"}, {'\r', "\\r"}})
    if (byte == control) return name;
  return c.length > 1 ? "<" + code_point_name(c.value) + ">"
                      : fmt::format("<0x{:02X}>", uint8_t(byte));
}

}  // namespace

CodePoint code_point_at(string_view text, size_t at) {
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at;
  if (*bytes < 0x80) return {*bytes, 1};
  utf8proc_int32_t value = 0;
  const auto length = utf8proc_iterate(bytes, text.size() - at, &value);
  if (length < 1) return {kInvalidCodePoint, 1};
  return {char32_t(value), int(length)};
}

size_t find_invalid_utf8(string_view text) {
  for (size_t at = 0; at < text.size();) {
    const CodePoint c = code_point_at(text, at);
    if (c.value == kInvalidCodePoint) return at;
    at += c.length;
  }
  return string_view::npos;
}

string encode_utf8(char32_t c) {
  array<utf8proc_uint8_t, 4> bytes;
  const auto length = utf8proc_encode_char(c, bytes.data());
  return {reinterpret_cast<const char*>(bytes.data()), size_t(length)};
}

string take_utf16(string& bytes, bool big_endian, bool at_end) {
  const auto unit = [&](size_t at) -> char32_t {
    const auto byte = [&](bool second) { return uint8_t(bytes[at + second]); };
    return at + 2 > bytes.size() ? 0 : byte(!big_endian) << 8 | byte(big_endian);
  };
  string text;
  size_t at = 0;
  for (; at + 2 <= bytes.size(); at += 2) {
    const char32_t first = unit(at), second = unit(at + 2);
    const bool begins_pair = (first & 0xFC00) == 0xD800;
    if (begins_pair && at + 4 > bytes.size() && !at_end) break;
    const bool pair = begins_pair && (second & 0xFC00) == 0xDC00;
    text += encode_utf8(pair ? 0x10000 + ((first & 0x3FF) << 10 | (second & 0x3FF)) : first);
    if (pair) at += 2;
  }
  if (at_end && at < bytes.size()) text += '\xFF';
  bytes.erase(0, at_end ? bytes.size() : at);
  return text;
}

int columns_of(string_view text) {
  int columns = 0;
  each_code_point(text, [&](CodePoint c, size_t) {
    columns += c.value == kInvalidCodePoint ? 1 : max(0, utf8proc_charwidth(c.value));
  });
  return columns;
}

size_t utf8_floor(string_view text, size_t at) {
  if (at >= text.size()) return text.size();
  size_t start = at;
  for (int i = 0; i < 3 && start > 0 && is_continuation(text[start]); ++i) --start;
  return is_continuation(text[start]) ? at : start;
}

string_view whole_words(string_view text, size_t most) {
  const size_t space = text.find_last_of(" \n", most);
  if (space != string_view::npos && space >= most / 2) return text.substr(0, space);
  return text.substr(0, utf8_floor(text, most));
}

string code_point_name(char32_t code_point) {
  return fmt::format("U+{:04X}", uint32_t(code_point));
}

string printable(string_view text, bool keep_lines) {
  string out;
  each_code_point(text, [&](CodePoint c, size_t at) {
    const bool kept = keep_lines && (c.value == '\n' || c.value == '\t');
    if ((is_control(c.value) && !kept) || c.value == kInvalidCodePoint)
      out += escaped(c, text[at]);
    else
      out += text.substr(at, c.length);
  });
  return out;
}

string shortened(string text, int most, string_view end) {
  if (columns_of(text) <= most) return text;
  size_t kept = 0;
  for (int columns = columns_of(end), length = 0;; kept += length) {
    length = code_point_at(text, kept).length;
    columns += columns_of(string_view(text).substr(kept, length));
    if (columns > most) return text.substr(0, kept).append(end);
  }
}

string excerpt(string_view text) {
  constexpr int kColumns = 80;
  return shortened(printable(text), kColumns, "...");
}

}  // namespace heed
