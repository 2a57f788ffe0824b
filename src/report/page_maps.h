// Attention maps in the JSON of a page. A page shows frames: the maps of a step, and whatever else
// the page knows about that step. All frames have the same tokens.
#pragma once

#include "report/attention_json.h"
#include "report/page.h"

namespace heed {

// {"kinds": [{"name", "layers", "heads", "queries", "keys"}], "frames": []}, where queries and keys
// are tokens. `maps`: those of any frame.
ShortJson page_of_maps(const InputTokens& tokens, const AttentionMaps& maps);

// The weights of a frame: for each kind, [layer][head][query][key] in ten-thousandths, 16 bits
// each, low byte first, in base64.
ShortJson packed_weights(const AttentionMaps& maps);

// The size of packed weights in bytes.
constexpr std::size_t packed_size(std::size_t weights) {
  return weights * 8 / 3;
}

}  // namespace heed
