#include "text/utf8.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <new>

#include "base/error.h"
#include "base/format.h"
#include "base/std_names.h"

namespace heed {
namespace {

// Unicode's Cased and Case_Ignorable, for the rule of the final sigma (Unicode 15, section 3.13).
bool is_cased(char32_t c) {
  const utf8proc_int32_t value = c;
  const auto category = utf8proc_category(value);
  return category == UTF8PROC_CATEGORY_LU || category == UTF8PROC_CATEGORY_LL ||
         category == UTF8PROC_CATEGORY_LT || utf8proc_tolower(value) != value ||
         utf8proc_toupper(value) != value || c == 0xAA || c == 0xBA ||
         (c >= 0x1F130 && c <= 0x1F149) || (c >= 0x1F150 && c <= 0x1F169) ||
         (c >= 0x1F170 && c <= 0x1F189);
}

bool is_case_ignorable(char32_t c) {
  constexpr array kIgnorable = {UTF8PROC_CATEGORY_MN, UTF8PROC_CATEGORY_ME, UTF8PROC_CATEGORY_CF,
                                UTF8PROC_CATEGORY_LM, UTF8PROC_CATEGORY_SK};
  constexpr u32string_view kMarks =
      U"'.:\u00B7\u0387\u055F\u05F4\u2018\u2019\u2024\u2027\uFE13\uFE52\uFE55\uFF07\uFF0E\uFF1A";
  return ranges::count(kIgnorable, utf8proc_category(c)) > 0 || kMarks.find(c) != kMarks.npos;
}

// Does a cased character follow, if those that do not count are skipped?
bool cased_follows(string_view text) {
  while (!text.empty()) {
    const CodePoint c = code_point_at(text, 0);
    if (!is_case_ignorable(c.value)) return is_cased(c.value);
    text.remove_prefix(c.length);
  }
  return false;
}

// True if no form can join the character with the text before it: the first character of its full
// decomposition has combining class 0 and always begins a grapheme cluster. (Every second character
// of a composition extends a cluster or is a Hangul vowel or final.)
bool begins_anew(char32_t c) {
  array<utf8proc_int32_t, 64> parts{};  // U+FDFA is the longest: 18
  int none = 0;
  const auto n = utf8proc_decompose_char(
      c, parts.data(), parts.size(),
      static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT), &none);
  if (n < 1) return false;
  const utf8proc_property_t& first = *utf8proc_get_property(parts[0]);
  constexpr array kJoining = {UTF8PROC_BOUNDCLASS_EXTEND, UTF8PROC_BOUNDCLASS_SPACINGMARK,
                              UTF8PROC_BOUNDCLASS_ZWJ, UTF8PROC_BOUNDCLASS_V,
                              UTF8PROC_BOUNDCLASS_T};
  return first.combining_class == 0 && ranges::count(kJoining, first.boundclass) == 0;
}

constexpr size_t kLongestRun = 100'000;  // bytes without a boundary that are kept together

}  // namespace

string to_lower(string_view text) {
  string lower;
  lower.reserve(text.size());
  bool after_cased = false;  // the last character that counts is cased
  each_code_point(text, [&](CodePoint c, size_t at) {
    const utf8proc_int32_t value = c.value;
    const auto mapped = utf8proc_tolower(value);  // invalid ones stay
    const string_view itself = text.substr(at, c.length);
    if (c.value == 0x130)
      lower += "i\u0307";
    else if (c.value == 0x3A3 && after_cased && !cased_follows(text.substr(at + c.length)))
      lower += "\u03C2";
    else
      lower += mapped == value ? string(itself) : encode_utf8(mapped);
    if (!is_case_ignorable(c.value)) after_cased = is_cased(c.value);
  });
  return lower;
}

string normalize(string_view text, Normalize form) {
  const auto is_ascii = [](char c) { return uint8_t(c) < 0x80; };
  if (form == Normalize::none || ranges::all_of(text, is_ascii)) return string(text);
  constexpr int kOptions[] = {0, UTF8PROC_COMPOSE, UTF8PROC_COMPOSE | UTF8PROC_COMPAT,
                              UTF8PROC_DECOMPOSE, UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT};
  const int options = UTF8PROC_STABLE | kOptions[int(form)];
  utf8proc_uint8_t* bytes = nullptr;
  const auto n = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), text.size(),
                              &bytes, utf8proc_option_t(options));
  const unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(bytes, &std::free);
  if (n == UTF8PROC_ERROR_NOMEM) throw bad_alloc();
  if (n < 0) throw data_error("only valid UTF-8 can be normalised (data.normalize).");
  return {reinterpret_cast<const char*>(bytes), size_t(n)};
}

size_t last_normalization_boundary(string_view text) {
  size_t end = text.size();
  do end = utf8_floor(text, end - 1);
  while (end > 0 && end + kLongestRun > text.size() &&
         !begins_anew(code_point_at(text, end).value));
  return end;
}

bool is_punctuation(char32_t c) {
  const auto category = utf8proc_category(c);
  return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO;
}

bool is_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 ||
         c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
         c == 0x205F || c == 0x3000;
}

bool is_blank(string_view text) {
  bool blank = true;
  each_code_point(text, [&](CodePoint c, size_t) {
    blank = blank && (is_space(c.value) || c.value == 0x200B || c.value == 0xFEFF);
  });
  return blank;
}

vector<string_view> split_words(string_view text) {
  return parts_between(text, is_space);
}

string_view stripped(string_view text) {
  const auto space_at = [&](size_t at) { return is_space(code_point_at(text, at).value); };
  while (!text.empty() && space_at(0)) text.remove_prefix(code_point_at(text, 0).length);
  for (size_t last = 0; !text.empty(); text = text.substr(0, last)) {
    last = utf8_floor(text, text.size() - 1);
    if (!space_at(last)) break;
  }
  return text;
}

vector<string_view> lines_of(string_view text) {
  vector<string_view> lines = split(text, '\n');
  if (lines.back().empty()) lines.pop_back();
  for (string_view& line : lines)
    if (line.ends_with('\r')) line.remove_suffix(1);
  return lines;
}

string to_valid_utf8(string_view bytes) {
  string text;
  each_code_point(bytes, [&](CodePoint c, size_t at) {
    text += c.value == kInvalidCodePoint ? "\xEF\xBF\xBD" : bytes.substr(at, c.length);
  });
  return text;
}

}  // namespace heed
