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

// JSON that may stand in a <script> element, whatever its strings hold: "<" becomes "\u003c".
std::string json_for_script(std::string json);

}  // namespace heed
