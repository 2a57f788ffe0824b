// Attention maps for a terminal: those that are asked for, or on one screen a line about each head
// and the map of one of them. A map has a row per query, a column per key.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/std_names.h"
#include "show/attention_maps.h"

namespace heed {

struct HeatMapStyle {
  bool colour = false;  // 256 colours and percentages, else shades " .:-=+*#%@"
  // Not 0: the numbers have signs and are shares of this one, drawn in tenths, -9 to 9.
  double largest = 0;
  int columns = 80;  // of a line, at most
};

// A column is as wide as its key. Where all of them do not fit into a line, and numbers would be
// narrower, keys have numbers, from 0: they stand beside the rows if these are the same tokens,
// else in a line above. What still does not fit goes into further blocks. Spaces of tokens are
// shown as U+2581. One string per row and per column of the weights.
string draw_heat_map(Mat<const float> weights, span<const string> queries, span<const string> keys,
                     const HeatMapStyle& style);

// One line that explains the colours or shades.
string heat_map_legend(const HeatMapStyle& style);

// "cross, layer 1, head 0"
string name_of_head(AttentionKind kind, int layer, int head);
// The last 16 rows of a map, with the 16 keys that have the largest numbers in them.
string draw_part(Mat<const float> map, const vector<string>& queries, const vector<string>& keys,
                 const HeatMapStyle& style);
// The whole map of every chosen head with a line about it; or, without a choice, such a line of
// each head, and a part of the map of the clearest of the last kind: the one on which the page of
// `heed attend --html` opens.
string draw_attention(const HeadChoice& choice, const InputTokens& tokens,
                      const AttentionMaps& maps, const HeatMapStyle& style);

}  // namespace heed
