// Attention maps for a terminal: those that are asked for, or on one screen a line about each head
// and the map of the sharpest one.
#pragma once

#include <string>

#include "show/attention_maps.h"
#include "show/heat_map.h"

namespace heed {

// The sharpest head of cross-attention, or else of the decoder or the encoder: the one on which the
// page of `heed attend --html` opens, too. Of a larger map the last 16 rows are drawn, with the 16
// keys that have the largest weights in them.
std::string attention_summary(const InputTokens& tokens, const AttentionMaps& maps,
                              const HeatMapStyle& style);

// "cross, layer 1, head 0" of the model, of a head of the map.
std::string name_of_head(AttentionKind kind, const AttentionMap& map, int layer, int head);
// The last 16 rows of a map, with the 16 keys that have the largest numbers in them.
std::string draw_part(Mat<const float> map, const std::vector<std::string>& queries,
                      const std::vector<std::string>& keys, const HeatMapStyle& style);
// The whole map of every head.
std::string draw_heads(const InputTokens& tokens, const AttentionMaps& maps,
                       const HeatMapStyle& style);

}  // namespace heed
