// Heads scored against gold attention, each score beside its controls.
//
//   mass      weight on the gold keys, mean over the links
//   accuracy  how often the key with the largest weight is gold (ties share the point)
//   aer       alignment error rate (Och and Ney 2003), one key per link proposed, all gold sure:
//             1 - 2 |proposed and gold| / (|proposed| + |gold|)
//
// For pronouns gold is the nearest noun of the referent; any_mass and any_accuracy also accept
// every earlier mention of it.
//
// Controls: "untrained" is the same head with the weights that the run began with. "uniform" is
// uniform attention over the visible keys. "shuffled" is the trained head scored against the gold
// of other positions of the line (or the nouns of other referents of the story), as the mean over
// all that are disjoint from the right one; links without any are left out. Intervals: 95 % from
// 1000 bootstrap resamples (Efron 1979; for corpora Koehn 2004) of lines or stories, the same for
// all heads; none if fewer than ten of them have a link.
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
  bool mentions = false;  // do the any_ figures apply?
  Score uniform;
  std::vector<HeadScore> heads;  // layer by layer
  std::vector<std::string> notes;
};

// Error (Exit::data) if the set is empty.
KindScores score_heads(const Transformer& model, const ParamVec<float>& trained,
                       const ParamVec<float>& untrained, const GoldSet& gold);

}  // namespace heed
