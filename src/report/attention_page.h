// Attention maps as JSON, and as the page of `heed attend --html` (web/attention.html):
// interactive, for mouse, touch and keyboard.
#pragma once

#include <string>

#include "inspect/attention_maps.h"
#include "text/tokenizer.h"

namespace heed {

// One line: {"source_ids", "source_tokens", "target_ids", "target_tokens", "encoder", "decoder",
// "cross"}. The last three are [layer][head][query][key]; kinds that the model lacks are left out.
// With `contributions` also "contribution_encoder" ... in the same layout.
std::string attention_json(const Example& input, const InputTokens& tokens,
                           const AttentionMaps& maps, bool contributions);

struct AttentionPage {
  std::string about;   // names the model, in one line
  AttentionKind kind;  // shown first, like layer and head
  int layer = 0, head = 0;
};

inline constexpr int kNextTokens = 5;  // shown beside each row of a decoder

// A page holds every weight of every head; browsers are slow with larger pages.
inline constexpr std::size_t kMostPageBytes = 30 << 20;

// Error (usage) if the weights would take more than that. `target` names the next tokens.
std::string attention_page(const AttentionPage& page, const InputTokens& tokens,
                           const MapsAndNext& pass, const Tokenizer& target);

}  // namespace heed
