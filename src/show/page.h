// Self-contained web pages (src/show/web). They are compiled in and load nothing; their scripts
// draw them from embedded JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "store/model.h"

namespace heed {

extern const char* const comparison_html;
extern const char* const live_html;
extern const char* const report_html;

// Each number with the fewest digits that tell it from other floats: a page has many.
Json with_short_numbers(Json json);

// With padding (RFC 4648, section 4).
std::string base64(const std::vector<unsigned char>& bytes);

// The page with `data`, whose numbers are short, in place of {{data}}, inside a <script>. "<"
// becomes "\u003c", so that no string ends the script.
std::string page_with(std::string_view page, const Json& data);

inline constexpr double kMostLiveBytes = 32 << 20;  // of weights: larger pages take seconds to open

// The page of `heed report --live`: the model itself, to type to. It holds the weights as float16,
// the tokenizers and what the config says of the model; web/model.js computes the forward pass, and
// web/tokenizer.js splits texts.
//
// `opening` is what the page shows first, in the words of its address: {"text", "target", "head":
// "cross.1.0", "answer", "against": ids}. A page that `reloads` loads itself again when its window
// gets the focus back, and so shows what its file has become. Error (usage, with the hint) if the
// weights would take more than that, if one is too large for float16, or if a tokenizer of others
// has a normaliser's table, which the page has not.
std::string live_page(const Model& model, const std::string& hint, const Json& opening,
                      bool reloads = false);

}  // namespace heed
