// What a head does in one text, in words, from a list of patterns.
//
// The share of a pattern is the mean share of a row's weight that lies where the pattern points,
// over the rows where it points to a key that they see. It needs at least half of the rows that
// have a choice, and three; twice the weight of evenly spread weights, and 30 %. Terminal, pages
// and JSON say what is found here, and show first the same head. One text is one sample: another
// may show another pattern; names (below) are of more of them.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "base/json_fwd.h"
#include "base/std_names.h"
#include "math/attention_head.h"
#include "show/attention_maps.h"
#include "store/model.h"
#include "store/run_records.h"

namespace heed {

// Over the rows that see both a key to which a pattern points and another one: the weight on such
// keys, that of even weights, and how many rows these are.
struct PatternSums {
  double weight = 0, even = 0, rows = 0;
};
// Of the keys from `first` to before `last` to which points(query, key).
template <class Points>
PatternSums pattern_sums(AttentionKind kind, Mat<const float> weights, int first, int last,
                         Points&& points) {
  PatternSums sums;
  for (int i = 0; i < weights.rows; ++i) {
    const int seen =
        visible_keys(kind == AttentionKind::decoder_self, i, weights.rows, weights.cols);
    double on = 0;
    int n = 0;
    for (int j = first; j < min(last, seen); ++j)
      if (points(i, j)) on += weights(i, j), ++n;
    if (n == 0 || n == seen) continue;
    sums.weight += on;
    sums.even += double(n) / seen;
    ++sums.rows;
  }
  return sums;
}

struct HeadInWords {
  string pattern;       // "often the previous token"; "no simple pattern"; "spread widely"
  bool simple = false;  // false: share is that of the largest weight of a row
  bool parked = false;  // on <s> or </s>, as a head that has nothing to do
  double share = 0, uniform = 0;  // of the weight; of evenly spread weights
  AttentionKind kind{};
  int layer = 0, head = 0;  // of the model

  // "often the previous token in this text (0.47 of the weight in the rows that see it; ...)"
  string sentence() const;
};

// One string per query and per key of the weights. Without its place.
HeadInWords head_in_words(AttentionKind kind, Mat<const float> weights, span<const string> queries,
                          span<const string> keys);
// Of every head of the maps, or the chosen ones.
vector<HeadInWords> heads_in_words(const InputTokens& tokens, const AttentionMaps& maps,
                                   const HeadChoice& choice = {});

// The head of the last kind to show first: the one whose simple pattern has the largest share;
// else, of those that are not parked, the one with the largest weights. The first among equals.
const HeadInWords& clearest_head(const vector<HeadInWords>& heads);

// What a head is for over held-out text: names, from the same list of patterns.
//
// A head's score for a pattern is the mean share of a row's weight that lies where the pattern
// points, over the rows that see such a key and another one. It has two controls: the same head
// with the weights that the run began with ("untrained"), and the same weights on keys in random
// order ("shuffled"): the mean over all orders, which is what even weights give. A head gets the
// name of the pattern that beats the second by most, if its score is at least 0.3, and both
// controls are beaten by 0.1 at the lower end of the 95 % interval (evaluate/comparison.h), which
// takes eight texts at least. The names are "previous token", "same token", "first token",
// "duplicate", "punctuation" and "induction".

// What the run's film says of those heads of a checkpoint that are chosen: {"named_at": its step,
// or the last one before it that has names, or null; "held_out": over held-out text, else over
// training text; "head_names"}.
Json recorded_names(const Model& model, const HeadChoice& choice);

class HeadProbe {
 public:
  // The beginning of the split, and repeated random tokens for induction (Olsson et al. 2022).
  // References, but for `untrained`, must outlive it.
  HeadProbe(const Transformer& model, const Tokenizers& tokenizers, const Objective& objective,
            const Split& held_out, const ParamVec<float>& untrained);
  vector<HeadName> names(const ParamVec<float>& trained) const;

 private:
  // By text, of a pattern (its place in the list of head_words.cpp) and a head's kind, layer and
  // number. Without patterns that no row can follow.
  using Scores = map<std::tuple<int, AttentionKind, int, int>, vector<PatternSums>>;
  Scores score(const ParamVec<float>& values) const;

  struct Text {
    Example read;
    InputTokens tokens;
    bool random;
  };
  const Transformer& model_;
  vector<Text> texts_;
  Scores untrained_;
};

}  // namespace heed
