// UTF-8 as text: lower case, normal forms, words. Pure functions on bytes that the caller owns;
// safe from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/std_names.h"
#include "base/utf8.h"
#include "config/data_config.h"

namespace heed {

// Lower case as Unicode maps it without a language, and as Python's str.lower does: U+0130 becomes
// two characters, a capital sigma at the end of a word the final one. Invalid bytes stay.
string to_lower(string_view text);

// A normal form (UAX #15). Error (data) on invalid UTF-8. Normalize::none returns the text as is.
string normalize(string_view text, Normalize form);

// The last position where a text that is not empty can be cut so that normalising the parts
// separately, in either form, gives the same result as the whole; else 0, or a place 100 KB before
// its end. Any text may follow.
size_t last_normalization_boundary(string_view text);

// The parts of `text` between runs of separators, as views into it.
template <class Separates>
vector<string_view> parts_between(string_view text, Separates&& separates) {
  vector<string_view> parts;
  size_t begin = 0;
  each_code_point(text, [&](CodePoint c, size_t at) {
    if (!separates(c.value)) return;
    if (at > begin) parts.push_back(text.substr(begin, at - begin));
    begin = at + c.length;
  });
  if (begin < text.size()) parts.push_back(text.substr(begin));
  return parts;
}

// Unicode's general category P.
bool is_punctuation(char32_t code_point);
// Whitespace as defined by Python's str.split, which sacreBLEU uses to split words.
bool is_space(char32_t code_point);
// Such whitespace, or nothing that is seen.
bool is_blank(string_view text);
// The parts between runs of such whitespace.
vector<string_view> split_words(string_view text);
// Without such whitespace at its ends.
string_view stripped(string_view text);
// \n or \r\n ends a line; the last line may lack it. Views into the text.
vector<string_view> lines_of(string_view text);
// Replaces invalid bytes with U+FFFD.
string to_valid_utf8(string_view bytes);

}  // namespace heed
