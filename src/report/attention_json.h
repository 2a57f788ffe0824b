// Attention maps as JSON.
#pragma once

#include <string>

#include "inspect/input_tokens.h"

namespace heed {

// One line: {"source_ids", "source_tokens", "target_ids", "target_tokens", "encoder", "decoder",
// "cross"}. The last three are [layer][head][query][key]; kinds that the model lacks are left out.
// With `contributions` also "contribution_encoder" ... in the same layout.
std::string attention_json(const Example& input, const InputTokens& tokens,
                           const AttentionMaps& maps, bool contributions);

}  // namespace heed
