// What a head is for: the patterns that its weights follow, from one list.
//
// In one text, in words: the share of a pattern is the mean share of a row's weight that lies where
// the pattern points, over the rows where it points to a key that they see. It needs at least half
// of the rows that have a choice, and three; twice the weight of evenly spread weights, and 30 %.
// Terminal, pages and JSON say what is found here, and show first the same head. One text is one
// sample: another may show another pattern.
//
// Over held-out text, as a name: a head's score for a pattern is the same mean, over the rows that
// see such a key and another one. It has two controls: the same head with the weights that the run
// began with ("untrained"), and the same weights on keys in random order ("shuffled"): the mean
// over all orders, which is what even weights give. A head gets the name of the pattern that beats
// the second by most, if its score is at least 0.3, and both controls are beaten by 0.1 at the
// lower end of the 95 % interval (evaluate/comparison.h), which takes eight texts at least.
// The names are "previous token", "same token", "first token", "duplicate", "punctuation" and
// "induction".
#pragma once

#include <array>
#include <compare>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "show/attention_maps.h"
#include "store/model.h"
#include "store/run_records.h"

namespace heed {

struct HeadInWords {
  std::string pattern;  // "often the previous token"; "no simple pattern"; "spread widely"
  bool simple = false;  // false: share is that of the largest weight of a row
  bool parked = false;  // on <s> or </s>, as a head that has nothing to do
  double share = 0, uniform = 0;  // of the weight; of evenly spread weights

  // "often the previous token in this text (0.47 of the weight in the rows that see it; ...)"
  std::string sentence() const;
};

// One string per query and per key of the weights.
HeadInWords head_in_words(AttentionKind kind, Mat<const float> weights,
                          std::span<const std::string> queries, std::span<const std::string> keys);

struct PlacedHead {
  int layer = 0, head = 0;  // of the map
};
// The head to show first: the one whose simple pattern has the largest share; else, of those that
// are not parked, the one with the largest weights. The first among equals.
PlacedHead clearest_head(const InputTokens& tokens, const AttentionMaps& maps, AttentionKind kind);

// [{"kind", "layer", "head", "pattern", "share", "uniform", "sentence"}] of every head.
nlohmann::ordered_json heads_in_words(const InputTokens& tokens, const AttentionMaps& maps);

// What the run's film says of those heads of a checkpoint that are chosen: {"named_at": its step,
// or the last one before it that has names, or null; "held_out": over held-out text, else over
// training text; "head_names"}.
nlohmann::ordered_json recorded_names(const Model& model, const HeadChoice& choice);
// The heads of a frame, without those whose names are none of the above.
std::vector<HeadName> known_names(const Frame& frame);
std::string names_in_words(const nlohmann::ordered_json& recorded);

// Of one pattern and head, for each text: weight on its keys, that of even weights, and rows.
struct PatternScore {
  std::vector<double> weight, even, rows;
};
struct PatternOfHead {
  int pattern;  // in the list of head_names.cpp
  AttentionKind kind;
  int layer, head;
  auto operator<=>(const PatternOfHead&) const = default;
};
using HeadScores =
    std::map<PatternOfHead, PatternScore>;  // without patterns that no row can follow

class HeadProbe {
 public:
  // The beginning of the split, and repeated random tokens for induction (Olsson et al. 2022).
  // References must outlive it.
  HeadProbe(const Transformer& model, const Tokenizers& tokenizers, const Objective& objective,
            const Split& held_out);
  HeadScores score(const ParamVec<float>& values) const;
  std::vector<HeadName> names(const HeadScores& trained, const HeadScores& untrained) const;

 private:
  struct Text {
    Example read;
    bool random = false;
  };
  const Transformer& model_;
  std::array<std::vector<bool>, 2> punctuation_;  // source, target; by id
  std::vector<Text> texts_;
};

}  // namespace heed
