// Attention maps as JSON.
#pragma once

#include "show/attention_maps.h"
#include "show/page.h"

namespace heed {

// {"source_ids", "source_tokens", "source_bytes", "target_ids", "target_tokens",
// "target_bytes", "encoder", "decoder", "cross"}. The last three are [layer][head][query][key];
// kinds that the model lacks and bytes that are not known are left out.
// With `contributions` also "contribution_encoder" ... in the same layout.
ShortJson attention_json(const Example& input, const InputTokens& tokens, const AttentionMaps& maps,
                         bool contributions);

}  // namespace heed
