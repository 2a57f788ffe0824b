// Heads scored against the truth, each number beside its controls.
//
//   mass      weight on the gold keys, mean over the links
//   accuracy  how often the key with the largest weight is gold (equal largest ones share the
//             point)
//   aer       alignment error rate (Och and Ney 2003), one key per link proposed, all gold sure:
//             1 - 2 |proposed and gold| / (|proposed| + |gold|)
//
// For pronouns gold is the nearest noun of the referent; any_mass and any_accuracy count every
// earlier mention of it as right.
//
// Controls: the same head with the weights that the run began with; uniform attention over the
// visible keys; and shuffled positions, the trained head scored against the gold of the line's
// other positions (the nouns of the story's other referents), mean over all of them disjoint from
// the right one; links without such are left out. Intervals: 95 %, 1000 bootstrap resamples of
// lines or stories, the same for all heads; none where fewer than ten of these have a link.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "inspect/gold.h"

namespace heed {

struct Interval95 {
  double low = 0, high = 0;
};
struct Estimate {
  double value = 0;
  std::optional<Interval95> interval;
};
struct Score {
  std::size_t links = 0;  // 0: nothing to score
  Estimate mass, accuracy, aer;
  Estimate any_mass, any_accuracy;  // pronouns only
};
struct HeadScore {
  int layer, head;
  Score trained, untrained, shuffled;
};
struct KindScores {
  AttentionKind kind;
  std::size_t links = 0, groups = 0;
  std::string group_name;
  bool mentions = false;  // are the any_ figures meant?
  Score uniform;
  std::vector<HeadScore> heads;  // layer by layer
  std::vector<std::string> notes;
};

// Error (Exit::data) if the set is empty.
KindScores score_heads(const Transformer& model, const ParamVec<float>& trained,
                       const ParamVec<float>& untrained, const GoldSet& gold);

std::string scores_table(const std::vector<KindScores>& scores);
// {"kinds": [{"kind", "links", "groups", "group", "uniform", "heads": [{"layer", "head", "trained",
// "untrained", "shuffled"}], "notes"}]}; a score is {"links", "mass", "accuracy", "aer"}, each of
// these {"value", "low", "high"} (null: no interval); of pronouns "any_mass", "any_accuracy" too.
std::string scores_json(const std::vector<KindScores>& scores);

}  // namespace heed
