// What a head is for, in a word: a pattern that its weights follow over held-out text.
//
// A head's score for a pattern is its weight on the keys that the pattern points to, mean over the
// rows that see such a key and another one. It has two controls: the same head with the weights
// that the run began with ("untrained"), and the same weights on keys in random order ("shuffled"):
// the mean over all orders, which is what even weights give. A head gets the name of the pattern
// that beats the second by most, if its score is at least 0.3, and both controls are beaten by 0.1
// at the lower end of the 95 % interval (show/ablation.h), which takes ten texts at least. The
// names are "previous token", "same token", "first token", "duplicate", "punctuation", "induction"
// and "alignment".
#pragma once

#include <array>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "show/attention_maps.h"
#include "store/run_records.h"
#include "store/trained_model.h"

namespace heed {

// What the run's film says of a checkpoint's heads.
struct RecordedNames {
  std::optional<std::int64_t> named_at;  // its step, or else the last one before it that has names
  bool held_out = true;                  // over held-out text, else over training text
  std::vector<HeadName> heads;           // those chosen
};
RecordedNames recorded_names(const TrainedModel& model, const HeadChoice& choice);
// {"named_at": step or null, "held_out", "head_names"}
nlohmann::ordered_json json_of(const RecordedNames& names);
std::string in_words(const RecordedNames& names);

// Of one pattern and head, for each text: weight on its keys, that of even weights, and rows.
struct PatternScore {
  std::vector<double> weight, even, rows;
};
using HeadScores = std::vector<PatternScore>;  // [pattern][kind][layer][head]

class HeadProbe {
 public:
  // The beginning of the split, and repeated random tokens for induction (Olsson et al. 2022).
  // References must outlive it.
  HeadProbe(const Transformer& model, const Tokenizers& tokenizers, const Objective& objective,
            const Split& held_out);
  std::size_t tokens() const;
  HeadScores score(const ParamVec<float>& values) const;
  std::vector<HeadName> names(const HeadScores& trained, const HeadScores& untrained) const;

 private:
  struct Text {
    Example read;
    bool random;
    std::vector<int> aligned;  // for each row of cross-attention its key, or -1
  };
  const Transformer& model_;
  std::array<std::vector<bool>, 2> punctuation_;  // source, target; by id
  std::vector<Text> texts_;
};

}  // namespace heed
