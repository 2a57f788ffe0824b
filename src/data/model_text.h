// What a user types, as a model reads it: lower-cased if its data was; "[MASK]" stands for the mask
// in masked models.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/run_config.h"
#include "text/tokenizer.h"

namespace heed {

// Lower-cased, but for the masks, if the model's data was.
std::string model_text(std::string_view text, const RunConfig& config);

// Of a model_text: its ids, and what of it has none.
std::vector<int> encode_with_masks(std::string_view text, const Tokenizer& tokenizer);
Unknown unknown_beside_masks(std::string_view text, const Tokenizer& tokenizer);

// The ids of a text of which everything must be known. Error (data) naming `what` ("the prompt") if
// it is no UTF-8 (but for byte) or has anything without an id: says which.
std::vector<int> encode_known(std::string_view text, const Tokenizer& tokenizer,
                              const RunConfig& config, const std::string& what);

}  // namespace heed
