// Which steps end an interval: of log lines, validations, checkpoints, learning records. These are
// pure functions of the step, so a resumed run does at each step what an uninterrupted one does.
#pragma once

#include "config/train_config.h"
#include "store/state.h"

namespace heed {

struct StepSpan {
  std::int64_t step = 0;  // steps done
  Cursor before, after;   // of the last one
};

bool is_due(const Interval& interval, const StepSpan& end);

// Does this step write a learning record? The last step does, and every n-th log line, with n such
// that records are at least ten steps apart. A record takes up to a third of a step, so all of them
// take less than 3 % of the time.
bool records_learning(const TrainConfig& config, const StepSpan& end);

}  // namespace heed
