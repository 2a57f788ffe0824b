// What a head is for over held-out text: names, from a list of patterns (show/head_words.h has
// words for one text).
//
// A head's score for a pattern is the mean share of a row's weight that lies where the pattern
// points, over the rows that see such a key and another one. It has two controls: the same head
// with the weights that the run began with ("untrained"), and the same weights on keys in random
// order ("shuffled"): the mean over all orders, which is what even weights give. A head gets the
// name of the pattern that beats the second by most, if its score is at least 0.3, and both
// controls are beaten by 0.1 at the lower end of the 95 % interval (evaluate/comparison.h), which
// takes eight texts at least. The names are "previous token", "same token", "first token",
// "duplicate", "punctuation" and "induction".
#pragma once

#include <array>
#include <compare>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/std_names.h"
#include "show/head_words.h"
#include "store/model.h"
#include "store/run_records.h"

namespace heed {

// What the run's film says of those heads of a checkpoint that are chosen: {"named_at": its step,
// or the last one before it that has names, or null; "held_out": over held-out text, else over
// training text; "head_names"}.
Json recorded_names(const Model& model, const HeadChoice& choice);
string names_in_words(const Json& recorded);

class HeadProbe {
 public:
  // The beginning of the split, and repeated random tokens for induction (Olsson et al. 2022).
  // References, but for `untrained`, must outlive it.
  HeadProbe(const Transformer& model, const Tokenizers& tokenizers, const Objective& objective,
            const Split& held_out, const ParamVec<float>& untrained);
  vector<HeadName> names(const ParamVec<float>& trained) const;

 private:
  struct PatternOfHead {
    int pattern;  // in the list of head_names.cpp
    AttentionKind kind;
    int layer, head;
    auto operator<=>(const PatternOfHead&) const = default;
  };
  // By text; without patterns that no row can follow.
  using Scores = std::map<PatternOfHead, vector<PatternSums>>;
  Scores score(const ParamVec<float>& values) const;

  struct Text {
    Example read;
    bool random = false;
  };
  const Transformer& model_;
  array<vector<bool>, 2> punctuation_;  // source, target; by id
  vector<Text> texts_;
  Scores untrained_;
};

}  // namespace heed
