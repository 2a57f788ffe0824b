// What `heed report RUN RUN ...` shows: the curves of several runs in one chart, and the config
// keys in which they differ. Reads what the runs have logged, no weights.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/config_differences.h"
#include "show/loss_curves.h"
#include "store/state.h"

namespace heed {

struct ComparedRun {
  std::string run;  // as the user wrote it
  LossCurves curves;
  std::optional<State> best;  // of the best checkpoint
  ConfigKeys keys;            // those in which the runs differ
};

// Error (Exit::store) if one is no run, or has logged nothing yet.
std::vector<ComparedRun> compare(const std::vector<std::string>& runs);

std::string comparison_page(const std::vector<ComparedRun>& runs);  // web/comparison.html
std::string comparison_json(const std::vector<ComparedRun>& runs);  // a line for each run

}  // namespace heed
