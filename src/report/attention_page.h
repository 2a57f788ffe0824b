// The page of `heed attend --html` (web/attention.html): attention maps to look around in with
// mouse, touch or keyboard.
#pragma once

#include <string>

#include "report/attention_json.h"

namespace heed {

struct AttentionPage {
  std::string about;   // which model, in one line
  AttentionKind kind;  // what is shown first
  int layer = 0, head = 0;
};

// A page has every weight of every head; browsers are slow with larger ones.
inline constexpr std::size_t kMostPageBytes = 30 << 20;

// Error (usage) if the weights would take more than that.
std::string attention_page(const AttentionPage& page, const InputTokens& tokens,
                           const AttentionMaps& maps);

}  // namespace heed
