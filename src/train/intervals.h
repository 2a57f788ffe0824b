// Which steps end on a grid: of log lines, validations, checkpoints, learning records. All pure
// functions of the step, so that a resumed run does at each step what an uninterrupted one does.
#pragma once

#include "config/train_config.h"
#include "store/state.h"

namespace heed {

struct StepSpan {
  std::int64_t step = 0;  // steps done
  Cursor before, after;   // of the last one
};

bool is_due(const Interval& interval, const StepSpan& end);

// Does this step write a learning record? The last step does, and log lines at least ten steps
// apart: every so many of them where lines count steps, a power of two where they count epochs. A
// record takes up to a third of a step; so it stays below 3 % of the time.
bool records_learning(const TrainConfig& config, const StepSpan& end);

}  // namespace heed
