// Self-contained web pages (src/show/web). They are compiled in and load nothing; their scripts
// draw them from embedded JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/std_names.h"

namespace heed {

extern const char* const comparison_html;
extern const char* const live_html;
extern const char* const report_html;

// Each number with the fewest digits that tell it from other floats: a page has many.
Json with_short_numbers(Json json);

// With padding (RFC 4648, section 4).
string base64(const vector<unsigned char>& bytes);

// The page with `data`, whose numbers are short, in place of {{data}}, inside a <script>. "<"
// becomes "\u003c", so that no string ends the script.
string page_with(string_view page, const Json& data);

}  // namespace heed
