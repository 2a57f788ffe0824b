// Attention maps as JSON.
#pragma once

#include <string>

#include "inspect/attention_maps.h"
#include "text/tokenizer.h"

namespace heed {

struct Tokenizers;

// Both sides of an input as readable tokens, one string per id, and as texts without <s> and </s>.
struct InputTokens {
  std::vector<std::string> source, target;
  std::string source_text = {}, target_text = {};
};
InputTokens input_tokens(const Example& input, const Tokenizers& tokenizers);
const std::vector<std::string>& query_tokens(const InputTokens& tokens, AttentionKind kind);
const std::vector<std::string>& key_tokens(const InputTokens& tokens, AttentionKind kind);

// One line: {"source_ids", "source_tokens", "target_ids", "target_tokens", "encoder", "decoder",
// "cross"}. The last three are [layer][head][query][key]; kinds that the model lacks are left out.
// With `contributions` also "contribution_encoder" ... in the same layout.
std::string attention_json(const Example& input, const InputTokens& tokens,
                           const AttentionMaps& maps, bool contributions);

}  // namespace heed
