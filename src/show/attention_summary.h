// Attention maps for a terminal: those that are asked for, or on one screen a line about each head
// and the map of the sharpest one.
#pragma once

#include <optional>
#include <string>

#include "show/attention_maps.h"
#include "show/heat_map.h"

namespace heed {

// The sharpest head of cross-attention, or else of the decoder or the encoder: the one on which the
// page of `heed attend --html` opens, too. Of a larger map the last 16 rows are drawn, with the 16
// keys that have the largest weights in them.
std::string attention_summary(const InputTokens& tokens, const AttentionMaps& maps,
                              const HeatMapStyle& style);

struct HeadChoice {
  std::string kind;                // empty: every kind
  std::optional<int> layer, head;  // absent: every one
  bool any() const { return !kind.empty() || layer || head; }
  bool takes(AttentionKind of, int in_layer, int number) const {
    return (kind.empty() || kind == attention_name(of)) && in_layer == layer.value_or(in_layer) &&
           number == head.value_or(number);
  }
};
std::string name_of_head(AttentionKind kind, int layer, int head);
// The last 16 rows of a map, with the 16 keys that have the largest numbers in them.
std::string draw_part(Mat<const float> map, const std::vector<std::string>& queries,
                      const std::vector<std::string>& keys, const HeatMapStyle& style);
// The whole maps of these heads.
std::string draw_heads(const HeadChoice& choice, const InputTokens& tokens,
                       const AttentionMaps& maps, const HeatMapStyle& style);

}  // namespace heed
