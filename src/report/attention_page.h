// The page of `heed attend --html` (web/attention.html): interactive attention maps, for mouse,
// touch and keyboard.
#pragma once

#include <string>

#include "report/attention_json.h"

namespace heed {

struct AttentionPage {
  std::string about;   // names the model, in one line
  AttentionKind kind;  // shown first, like layer and head
  int layer = 0, head = 0;
};

// A page holds every weight of every head; browsers are slow with larger pages.
inline constexpr std::size_t kMostPageBytes = 30 << 20;

// Error (usage) if the weights would take more than that.
std::string attention_page(const AttentionPage& page, const InputTokens& tokens,
                           const AttentionMaps& maps);

}  // namespace heed
