// Attention weights as they are kept in film.jsonl (8 bits each) and in the page of `heed attend
// --html` (16 bits). web/maps.js unpacks both.
#pragma once

#include <string>
#include <vector>

#include "inspect/attention_maps.h"

namespace heed {

// For each kind that the model has, [layer][head][query][key] in base64. `bits` 8: a byte b for
// each weight (b / 255)^2, so that small ones are told apart; 16: ten-thousandths, low byte first.
std::vector<std::string> packed_weights(const AttentionMaps& maps, int bits);

}  // namespace heed
