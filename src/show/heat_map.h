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
// narrower, keys have numbers, from 0, and stand in a line above. What still does not fit goes into
// further blocks. Spaces of tokens are shown as U+2581. One string per row and per column of the
// weights.
string draw_heat_map(Mat<const float> weights, span<const string> queries, span<const string> keys,
                     const HeatMapStyle& style);

// "cross, layer 1, head 0"
string name_of_head(AttentionKind kind, int layer, int head);

struct DrawnHead {
  string line;  // about it
  AttentionKind kind;
  vector<float> numbers;  // [query][key]
  double largest = 0;     // HeatMapStyle::largest
};
// With a choice the line and the whole map of each; else the lines of all, and of the `clearest`
// one the last 16 rows of its map with the 16 keys that have the largest numbers in them.
string draw_heads(const HeadChoice& choice, const vector<DrawnHead>& heads, ptrdiff_t clearest,
                  const InputTokens& tokens, HeatMapStyle style);
// The weights, with what each head does in words. The clearest head of the last kind is the one on
// which the page of `heed attend --html` opens.
string draw_attention(const HeadChoice& choice, const InputTokens& tokens,
                      const AttentionMaps& maps, const HeatMapStyle& style);

}  // namespace heed
