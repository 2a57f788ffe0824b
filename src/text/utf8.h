// UTF-8: checking, walking over code points, lower-casing. Pure functions on bytes that the caller
// owns; safe from any thread. "Valid" is strict (Unicode 15, table 3-7): no overlong forms, no
// surrogates, nothing above U+10FFFF. NUL is a character like any other.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

// Byte offset of the first byte that doesn't start or continue a valid character;
// std::string_view::npos if the whole text is valid.
std::size_t find_invalid_utf8(std::string_view text);

struct CodePoint {
  char32_t value;  // kInvalidCodePoint for a byte that is no UTF-8
  int length;      // bytes, 1 to 4; 1 for an invalid byte
};
inline constexpr char32_t kInvalidCodePoint = 0xFFFFFFFF;

// The character that starts at byte `at` (at < text.size()).
CodePoint code_point_at(std::string_view text, std::size_t at);

// The bytes of one code point.
std::string encode_utf8(char32_t code_point);

// The greatest character start that is <= at: at, moved back over at most three continuation bytes.
std::size_t utf8_floor(std::string_view text, std::size_t at);

// Each code point replaced by Unicode's simple lower-case mapping: one code point for one, so line
// and word counts stay; final sigma and the dotted capital I get no special treatment. Invalid
// bytes are kept as they are.
std::string to_lower(std::string_view text);

// `text` on one line for messages and displays: control characters and invalid bytes as \n, \t, \r
// or <0xNN>, everything else as it is.
std::string printable(std::string_view text);

// Whitespace as Unicode and Python's str.split see it (sacreBLEU splits words with the latter).
bool is_space(char32_t code_point);
// The parts of `text` between runs of such whitespace; views into it.
std::vector<std::string_view> split_words(std::string_view text);

// "U+00E9"
std::string code_point_name(char32_t code_point);

}  // namespace heed
