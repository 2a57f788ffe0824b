// Heads scored against the truth, each number beside its controls.
//
//   mass      weight on the gold keys, mean over the links
//   accuracy  how often the key with the largest weight is gold (equal largest ones share the
//   point) aer       alignment error rate (Och and Ney 2003), one key per link proposed, all gold
//   sure:
//             1 - 2 |proposed and gold| / (|proposed| + |gold|)
//
// Controls: the same head of the untrained model (initial values redrawn from the seed); uniform
// attention over the visible keys; and shuffled positions, the trained head scored against the gold
// of the line's other positions (the story's other nouns), mean over all of them disjoint from the
// right one. Intervals: 95 %, 1000 bootstrap resamples of lines or stories, the same for all heads.
#pragma once

#include <string>
#include <vector>

#include "inspect/gold.h"

namespace heed {

struct Estimate {
  double value = 0, low = 0, high = 0;
};
struct Score {
  std::size_t links = 0;  // 0: nothing to score
  Estimate mass, accuracy, aer;
};
struct HeadScore {
  int layer, head;
  Score trained, untrained, shuffled;
};
struct KindScores {
  AttentionKind kind;
  std::size_t links = 0, groups = 0;
  std::string group_name;
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
// these {"value", "low", "high"}.
std::string scores_json(const std::vector<KindScores>& scores);

}  // namespace heed
