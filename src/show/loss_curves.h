// What a run's two loss curves show: whether it overfits, and why they do not measure quite the
// same quantity.
#pragma once

#include <string>
#include <vector>

#include "data/run_config.h"
#include "show/page.h"
#include "store/run_events.h"

namespace heed {

struct LossCurves {  // by step
  std::vector<TrainEvent> train;
  std::vector<ValidEvent> held_out;
  std::vector<RunEnd> ends = {};  // from which the run went back for a later one

  void take(const nlohmann::ordered_json& line);  // of metrics.jsonl
};

// {"ends": [{step, loss}], "train": {...}, "valid": {...}}: the steps, and a list for each figure
// with null where there is none.
ShortJson json_of(const LossCurves& curves);

// A sentence if held-out loss has begun to rise while training loss still falls, else "". It has if
// the last one is above the lowest: by 10 % if it is the next one, by 1 % if it is a later one.
// Training losses are compared as means of five, since each is measured on a few batches only.
// Held-out losses that are NaN do not count.
std::string overfitting(const LossCurves& curves);

// How the training losses of a run are measured, compared with the held-out ones.
std::string training_loss_note(const RunConfig& config);

}  // namespace heed
