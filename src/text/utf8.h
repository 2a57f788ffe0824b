// UTF-8 as text: lower case, normal forms, words. Pure functions on bytes that the caller owns;
// safe from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "config/data_config.h"

namespace heed {

// Lower case as Unicode maps it without a language, and as Python's str.lower does: U+0130 becomes
// two characters, a capital sigma at the end of a word the final one. Invalid bytes stay.
std::string to_lower(std::string_view text);

// A normal form (UAX #15). Error (data) on invalid UTF-8. Normalize::none returns the text as is.
std::string normalize(std::string_view text, Normalize form);

// The last position before byte `end` where the text can be cut so that normalising the parts
// separately, in either form, gives the same result as the whole; else 0, or a place 100 KB before
// `end`. Any text may follow text[0, end).
std::size_t last_normalization_boundary(std::string_view text, std::size_t end);

// The parts of `text` between runs of separators, as views into it.
template <class Separates>
std::vector<std::string_view> parts_between(std::string_view text, Separates&& separates) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  each_code_point(text, [&](CodePoint c, std::size_t at) {
    if (!separates(c.value)) return;
    if (at > begin) parts.push_back(text.substr(begin, at - begin));
    begin = at + static_cast<std::size_t>(c.length);
  });
  if (begin < text.size()) parts.push_back(text.substr(begin));
  return parts;
}

// Unicode's general category P.
bool is_punctuation(char32_t code_point);
// Whitespace as defined by Python's str.split, which sacreBLEU uses to split words.
bool is_space(char32_t code_point);
// Such whitespace, or nothing that is seen.
bool is_blank(std::string_view text);
// The parts between runs of such whitespace.
std::vector<std::string_view> split_words(std::string_view text);
// Without such whitespace at its ends.
std::string_view stripped(std::string_view text);
// \n or \r\n ends a line; the last line may lack it. Views into the text.
std::vector<std::string_view> lines_of(std::string_view text);
// Replaces invalid bytes with U+FFFD.
std::string to_valid_utf8(std::string_view bytes);

}  // namespace heed
