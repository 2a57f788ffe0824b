// Self-contained web pages (src/show/web) and what they show. They are compiled in and load
// nothing; their scripts draw them from embedded JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/std_names.h"
#include "store/model.h"

namespace heed {

extern const char* const comparison_html;
extern const char* const live_html;
extern const char* const pair_html;
extern const char* const report_html;

// Each number with the fewest digits that tell it from other floats: a page has many.
Json with_short_numbers(Json json);

// With padding (RFC 4648, section 4).
string base64(const vector<unsigned char>& bytes);

// The page with `data`, whose numbers are short, in place of {{data}}, inside a <script>. "<"
// becomes "\u003c", so that no string ends the script.
string page_with(string_view page, const Json& data);

// What `heed report` shows of a run: its losses, and where the model looks and what it writes as it
// learns, for one fixed piece of the held-out text. Reads the run's records, its states and its
// config, no weights and no data, and never writes to the run.

// The data of web/report.html. `run` is a run folder; one that has not saved yet shows what it has
// logged. Error (Exit::store) if it has nothing to show.
Json report(const string& run);

// What the page shows, without its attention maps.
Json without_maps(Json report);

// Of several runs: their curves in one chart, and the config keys in which they differ. An object
// for each, the data of web/comparison.html: {"run", "best_step", "best_loss", "keys", "train",
// "valid"}. Error (Exit::store) if one is no run, or has logged nothing yet.
Json comparison(const vector<string>& runs);

inline constexpr double kMostLiveBytes = 32 << 20;  // of weights: larger pages take seconds to open

// The page of `heed report --live` (web/live.html): the model itself, to type to. It holds the
// weights as float16, the tokenizers and what the config says of the model; web/model.js computes
// the forward pass, and web/tokenizer.js splits texts.
//
// It opens at the text of the run's film, unless `more` has an "opening", in the words of its
// address: {"text", "target", "head": "cross.1.0", "answer", "against": ids}. If `more` has
// "reloads": true, it loads itself again when its window gets the focus back, and so shows what its
// file has become. "report" is the page of the run beside it, which it links. Error (usage, with
// the hint) if the weights would take more than that, if one is too large for float16, or if a
// tokenizer of others has a normaliser's table, which the page has not.
string live_page(const Model& model, const string& hint, const Json& more);

// Both pages beside each other: one text, two models (web/pair.html). Errors as above; Error
// (usage) if they read texts in different tokens.
string pair_page(const Model& a, const Model& b, const string& hint);

}  // namespace heed
