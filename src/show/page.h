// Self-contained web pages (src/show/web). They are compiled in and load nothing; their scripts
// draw them from embedded JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/format.h"

namespace heed {

// Floats get the fewest digits that distinguish them; NaN and infinity become null.
using ShortJson = nlohmann::basic_json<nlohmann::ordered_map, std::vector, std::string, bool,
                                       std::int64_t, std::uint64_t, float>;

// On one line. Bytes that are not UTF-8 become U+FFFD.
inline std::string text_of(const ShortJson& json) {
  return json.dump(-1, ' ', false, ShortJson::error_handler_t::replace);
}

extern const char* const comparison_html;
extern const char* const live_html;
extern const char* const report_html;

// The page with `data` in place of {{data}}, inside a <script>. "<" becomes "\u003c", so that no
// string ends the script.
inline std::string page_with(std::string_view page, const ShortJson& data) {
  constexpr std::string_view kPlace = "{{data}}";
  const std::size_t at = page.find(kPlace);
  std::string out(page.substr(0, at));
  out += replace_all(text_of(data), "<", "\\u003c");
  return out.append(page.substr(at + kPlace.size()));
}

}  // namespace heed
