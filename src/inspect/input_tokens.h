// What a model reads as tokens that people can read, beside the attention maps of that input.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "inspect/attention_maps.h"

namespace heed {

struct Tokenizers;

// Both sides of an input as readable tokens, one string per id, and as texts without <s> and </s>.
struct InputTokens {
  std::vector<std::string> source, target;
  std::string source_text = {}, target_text = {};
};
InputTokens input_tokens(const Example& input, const Tokenizers& tokenizers);

// [{"name", "layers", "heads", "queries", "keys"}] for each kind that the model has; queries and
// keys are tokens.
nlohmann::ordered_json kinds_json(const InputTokens& tokens, const AttentionMaps& maps);

}  // namespace heed
