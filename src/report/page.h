// Self-contained web pages (src/report/web). They are compiled in, load nothing and are drawn by
// their scripts from the JSON that is put into them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace heed {

// Floats are written with as many digits as tell them apart, NaN and infinity as null.
using ShortJson = nlohmann::basic_json<nlohmann::ordered_map, std::vector, std::string, bool,
                                       std::int64_t, std::uint64_t, float>;

extern const char* const attention_html;
extern const char* const report_html;

// The page with `data` at its {{data}}, in a <script> that no string of it can end: "<" becomes
// "\u003c". Bytes that are not UTF-8 become U+FFFD.
std::string page_with(std::string_view page, const ShortJson& data);

}  // namespace heed
