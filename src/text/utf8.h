// UTF-8: validation, code points, lower case. Pure functions on bytes that the caller owns; safe
// from any thread. "Valid" is strict (Unicode 15, table 3-7): no overlong forms, no surrogates,
// nothing above U+10FFFF. NUL is an ordinary character.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

// The offset of the first byte that does not belong to a valid character; std::string_view::npos if
// the whole text is valid.
std::size_t find_invalid_utf8(std::string_view text);

struct CodePoint {
  char32_t value;  // kInvalidCodePoint for a byte that is not UTF-8
  int length;      // bytes, 1 to 4; 1 for an invalid byte
};
inline constexpr char32_t kInvalidCodePoint = 0xFFFFFFFF;

// The character that starts at byte `at` (at < text.size()).
CodePoint code_point_at(std::string_view text, std::size_t at);

// The bytes of one code point.
std::string encode_utf8(char32_t code_point);

// The start of the character at byte `at`: moves back over at most three continuation bytes.
std::size_t utf8_floor(std::string_view text, std::size_t at);

// Replaces each code point by Unicode's simple lower-case mapping, which is one code point, so line
// and word counts stay. Final sigma and the dotted capital I get no special treatment. Invalid
// bytes stay.
std::string to_lower(std::string_view text);

// `text` on one line, for display: control characters and invalid bytes become \n, \t, \r or
// <0xNN>.
std::string printable(std::string_view text);

// Whitespace as defined by Python's str.split, which sacreBLEU uses to split words.
bool is_space(char32_t code_point);
// The parts of `text` between runs of such whitespace; views into it.
std::vector<std::string_view> split_words(std::string_view text);

}  // namespace heed
