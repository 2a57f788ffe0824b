// Attention maps in the JSON of a page. What a page shows is a list of frames, which are of the
// same tokens: the maps of a step, and whatever else the page knows of that step.
#pragma once

#include "report/attention_json.h"
#include "report/page.h"

namespace heed {

// {"kinds": [{"name", "layers", "heads", "queries", "keys"}], "frames": []}: of each kind the
// tokens that look and those that are looked at. `maps` are those of any frame.
ShortJson page_of_maps(const InputTokens& tokens, const AttentionMaps& maps);

// The weights of a frame: for each of the kinds, [layer][head][query][key] in ten-thousandths, 16
// bits each, the low byte first, in base64.
ShortJson packed_weights(const AttentionMaps& maps);

// Bytes of so many weights.
constexpr std::size_t packed_size(std::size_t weights) {
  return weights * 8 / 3;
}

}  // namespace heed
