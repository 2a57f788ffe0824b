// Attention maps as one self-contained web page (src/inspect/attention_page.html), to look around
// in with mouse, touch or keyboard. It loads nothing.
#pragma once

#include <string>

#include "inspect/attention_json.h"

namespace heed {

struct AttentionPage {
  std::string about;   // which model, in one line
  AttentionKind kind;  // what is shown first
  int layer = 0, head = 0;
};

std::string attention_page(const AttentionPage& page, const InputTokens& tokens,
                           const AttentionMaps& maps);

}  // namespace heed
