// What a head does in one text, in words: which of a list of simple patterns it follows most.
//
// The share of a pattern is the mean share of a row's weight that lies where the pattern points,
// over the rows where it points to a key that they see. It needs at least half of the rows that
// have a choice, twice the weight of evenly spread weights, and 30 %. Terminal, pages and JSON say
// what is found here. One text is one sample: another may show another pattern.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "show/attention_maps.h"

namespace heed {

struct HeadInWords {
  std::string pattern;  // "often the previous token"; "no simple pattern"; "spread widely"
  bool simple = false;  // false: share is that of the largest weight of a row
  double share = 0, uniform = 0;  // of the weight; of evenly spread weights

  // "often the previous token in this text (0.47 of the weight in the rows that see it; ...)"
  std::string sentence() const;
};

// One string per query and per key of the weights.
HeadInWords head_in_words(AttentionKind kind, Mat<const float> weights,
                          std::span<const std::string> queries, std::span<const std::string> keys);

// [{"kind", "layer", "head", "pattern", "share", "uniform", "sentence"}] of every head.
nlohmann::ordered_json heads_in_words(const InputTokens& tokens, const AttentionMaps& maps);

}  // namespace heed
