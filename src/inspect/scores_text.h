// The scores of heads as a table for people and as JSON.
#pragma once

#include <string>
#include <vector>

#include "inspect/attention_scores.h"

namespace heed {

// The twelve best heads of each kind, best first, and what the figures mean.
std::string scores_table(const std::vector<KindScores>& scores);
// {"kinds": [{"kind", "links", "groups", "group", "uniform", "heads": [{"layer", "head", "trained",
// "untrained", "shuffled"}], "notes"}]}. A score is {"links", "mass", "accuracy", "aer"}, for
// pronouns also "any_mass" and "any_accuracy"; a figure is {"value", "low", "high"} (null: no
// interval).
std::string scores_json(const std::vector<KindScores>& scores);

}  // namespace heed
