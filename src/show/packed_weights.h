// Attention weights as film.jsonl keeps them; web/maps.js unpacks them.
#pragma once

#include <string>
#include <vector>

#include "show/attention_maps.h"

namespace heed {

// For each kind that the model has, [layer][head][query][key] in base64: a byte b for each weight
// (b / 255)^2, so that small ones can be told apart.
std::vector<std::string> packed_weights(const AttentionMaps& maps);

}  // namespace heed
