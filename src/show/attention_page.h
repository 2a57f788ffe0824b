// The page of `heed attend --html` (web/attention.html): interactive attention maps, for mouse,
// touch and keyboard.
#pragma once

#include <string>

#include "show/attention_json.h"
#include "text/tokenizer.h"

namespace heed {

struct AttentionPage {
  std::string about;   // names the model, in one line
  AttentionKind kind;  // shown first, like layer and head
  int layer = 0, head = 0;
};

inline constexpr int kNextTokens = 5;  // shown beside each row of a decoder

// A page holds every weight of every head; browsers are slow with larger pages.
inline constexpr double kMostPageBytes = 64 << 20;

// Error (usage) if the weights would take more than that. `target` names the next tokens.
std::string attention_page(const AttentionPage& page, const Example& input,
                           const InputTokens& tokens, const MapsAndNext& pass,
                           const Tokenizer& target);

}  // namespace heed
