// What a user types, as a model reads it: normalised and lower-cased if its data was; the name of a
// further special token of the model ("[MASK]") stands for that token.
//
// Errors are Exit::data and name the text by `name` ("the text", "--target"): invalid UTF-8,
// unknown characters (they are listed), a text longer than the model reads.
#pragma once

#include <string>
#include <string_view>

#include "data/objective.h"
#include "text/tokenizers.h"

namespace heed {

// Changed as the model's data was, but for the names of special tokens.
std::string normalized(std::string_view text, const RunConfig& config, const Tokenizer& tokenizer,
                       const std::string& name = "the text");

// What of a normalized text has no id.
Unknown unknown_beside_specials(std::string_view text, const Tokenizer& tokenizer);

// The ids of a text of which everything must be known.
TokenIds encode_known(std::string_view text, const Tokenizer& tokenizer, const RunConfig& config,
                      const std::string& name);

// The same for the two sides of a model that is looked into. They are checked to be no longer than
// a side reads. An empty source is an Error.
TokenIds source_tokens(const Objective& objective, const RunConfig& config,
                       const Tokenizers& tokenizers, std::string_view text,
                       const std::string& name);
TokenIds target_tokens(const Objective& objective, const RunConfig& config,
                       const Tokenizers& tokenizers, std::string_view text,
                       const std::string& name);

// Error if a side is longer than the model's positions reach. `frame` is what the number counts
// besides tokens ("</s>").
void check_positions(const ModelConfig& model, std::size_t ids, const std::string& name,
                     const std::string& frame);

}  // namespace heed
