#include "text/normalize.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <new>

#include "base/error.h"
#include "base/utf8.h"

namespace heed {
namespace {

// True if no form can join the character with the text before it: the first character of its full
// decomposition has combining class 0 and always begins a grapheme cluster. (Every second character
// of a composition extends a cluster or is a Hangul vowel or final.)
bool begins_anew(char32_t c) {
  std::array<utf8proc_int32_t, 64> parts{};  // U+FDFA is the longest: 18
  int none = 0;
  const auto n = utf8proc_decompose_char(
      static_cast<utf8proc_int32_t>(c), parts.data(), parts.size(),
      static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT), &none);
  if (n < 1) return false;
  const utf8proc_property_t& first = *utf8proc_get_property(parts[0]);
  constexpr std::array kJoining = {UTF8PROC_BOUNDCLASS_EXTEND, UTF8PROC_BOUNDCLASS_SPACINGMARK,
                                   UTF8PROC_BOUNDCLASS_ZWJ, UTF8PROC_BOUNDCLASS_V,
                                   UTF8PROC_BOUNDCLASS_T};
  return first.combining_class == 0 && std::ranges::count(kJoining, first.boundclass) == 0;
}

constexpr std::size_t kLongestRun = 100'000;  // bytes without a boundary that are kept together
constexpr int kMostMarks = 30;                // non-starters in a row

int combining_class(char32_t c) {
  return utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->combining_class;
}

// Ordering marks takes quadratic time in their number. So more than 30 in a row are parted by
// U+034F, the combining grapheme joiner (UAX #15-D4, the stream-safe text process; a character that
// decomposes into several marks counts as one here).
std::string stream_safe(std::string_view text) {
  std::string safe;
  int marks = 0;
  each_code_point(text, [&](CodePoint c, std::size_t at) {
    marks = c.value != kInvalidCodePoint && combining_class(c.value) != 0 ? marks + 1 : 0;
    if (marks > kMostMarks) {
      safe += "\u034F";
      marks = 1;
    }
    safe += text.substr(at, c.length);
  });
  return safe;
}

}  // namespace

std::string normalize(std::string_view text, Normalize form) {
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  if (form == Normalize::none || std::ranges::all_of(text, is_ascii)) return std::string(text);
  int options = UTF8PROC_STABLE | UTF8PROC_COMPOSE;
  if (form == Normalize::nfkc) options |= UTF8PROC_COMPAT;
  const std::string safe = stream_safe(text);
  utf8proc_uint8_t* bytes = nullptr;
  const auto n = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(safe.data()),
                              static_cast<utf8proc_ssize_t>(safe.size()), &bytes,
                              static_cast<utf8proc_option_t>(options));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(bytes, &std::free);
  if (n == UTF8PROC_ERROR_NOMEM) throw std::bad_alloc();
  if (n < 0) throw Error(Exit::data, "only valid UTF-8 can be normalised (data.normalize).");
  return {reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(n)};
}

std::size_t last_normalization_boundary(std::string_view text, std::size_t end) {
  const std::size_t nearest = end > kLongestRun ? end - kLongestRun : 0;
  while (end > nearest) {
    end = utf8_floor(text, end - 1);
    if (begins_anew(code_point_at(text, end).value)) break;
  }
  return end;
}

}  // namespace heed
