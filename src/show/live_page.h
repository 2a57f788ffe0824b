// The page of `heed report --live` (web/live.html): the model itself, to type to. It holds the
// weights as float16, the tokenizers and what the config says of the model; web/model.js computes
// the forward pass, and web/tokenizer.js splits texts.
#pragma once

#include <string>

#include "store/model.h"

namespace heed {

// Error (usage) if the weights would take more than 32 MiB, if one is too large for float16, or if
// a tokenizer of others has a normaliser's table, which the page has not.
std::string live_page(const Model& model);

}  // namespace heed
