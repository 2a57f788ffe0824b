// The page with the model itself, to type to: `heed report --live`, and `--html` of attend and
// explain.
#pragma once

#include <string>

#include "base/std_names.h"
#include "store/model.h"

namespace heed {

inline constexpr double kMostLiveBytes = 32 << 20;  // of weights: larger pages take seconds to open

// The page of `heed report --live` (web/live.html): the model itself, to type to. It holds the
// weights as float16, the tokenizers and what the config says of the model; web/model.js computes
// the forward pass, and web/tokenizer.js splits texts.
//
// `opening` is what the page shows first, in the words of its address: {"text", "target", "head":
// "cross.1.0", "answer", "against": ids}. A page that `reloads` loads itself again when its window
// gets the focus back, and so shows what its file has become. Error (usage, with the hint) if the
// weights would take more than that, if one is too large for float16, or if a tokenizer of others
// has a normaliser's table, which the page has not.
string live_page(const Model& model, const string& hint, const Json& opening, bool reloads = false);

}  // namespace heed
