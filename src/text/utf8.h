// UTF-8 as text: lower case, words, code points written out. Pure functions on bytes that the
// caller owns; safe from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"

namespace heed {

// The bytes of one code point.
std::string encode_utf8(char32_t code_point);

// Replaces each code point by Unicode's simple lower-case mapping, which is one code point, so line
// and word counts stay. Final sigma and the dotted capital I get no special treatment. Invalid
// bytes stay.
std::string to_lower(std::string_view text);

// Whitespace as defined by Python's str.split, which sacreBLEU uses to split words.
bool is_space(char32_t code_point);
// The parts of `text` between runs of such whitespace; views into it.
std::vector<std::string_view> split_words(std::string_view text);

}  // namespace heed
