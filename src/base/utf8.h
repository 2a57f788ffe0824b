// UTF-8: checking, walking over code points, and displaying any bytes. Pure functions on bytes
// that the caller owns; safe from any thread. "Valid" is strict (Unicode 15, table 3-7): no
// overlong forms, no surrogates, nothing above U+10FFFF. NUL is an ordinary character.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/std_names.h"

namespace heed {

inline constexpr string_view kByteOrderMark = "\xEF\xBB\xBF";

// The offset of the first byte that does not belong to a valid character; std::string_view::npos if
// the whole text is valid.
size_t find_invalid_utf8(string_view text);

struct CodePoint {
  char32_t value;  // kInvalidCodePoint for a byte that is not UTF-8
  int length;      // bytes, 1 to 4; 1 for an invalid byte
};
inline constexpr char32_t kInvalidCodePoint = 0xFFFFFFFF;
inline constexpr char32_t kReplacement = 0xFFFD;  // stands for a byte that is not UTF-8

// The character that starts at byte `at` (at < text.size()).
CodePoint code_point_at(string_view text, size_t at);

// Calls use(code_point, at) for every character and every byte that is not UTF-8, in order.
template <class Use>
void each_code_point(string_view text, Use&& use) {
  for (size_t at = 0; at < text.size();) {
    const CodePoint c = code_point_at(text, at);
    use(c, at);
    at += c.length;
  }
}

// The bytes of one code point.
string encode_utf8(char32_t code_point);

// The text whose UTF-16 is at the front of `bytes`, which keeps what needs more bytes to be told.
// Half a character becomes bytes that are not UTF-8.
string take_utf16(string& bytes, bool big_endian, bool at_end);

// The columns that a terminal gives the text; a byte that is not UTF-8 takes one.
int columns_of(string_view text);

// The start of the character at byte `at`: moves back over at most three continuation bytes.
size_t utf8_floor(string_view text, size_t at);

// The start of `text`, at most `most` bytes, cut at the last space; if there is no space in its
// second half, cut after the last whole character.
string_view whole_words(string_view text, size_t most);

// "U+00E9"
string code_point_name(char32_t code_point);

// `text` on one line for messages and displays: control characters, those that turn or hide a text
// (U+202E) and invalid bytes as \n, \t, \r, <0xNN> or <U+NNNN>, everything else unchanged. Newlines
// and tabs may stay: for a terminal, which obeys control characters.
string printable(string_view text, bool keep_lines = false);

// The same for quoting in a message: at most 80 columns, cut with "...".
string excerpt(string_view text);

// `text` in at most `most` columns, with `end` (…) where it is cut.
string shortened(string text, int most, string_view end = "\u2026");

}  // namespace heed
