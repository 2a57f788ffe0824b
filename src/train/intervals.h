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

// The learning record: the end of the run, and log lines at least ten steps apart (the interval of
// lines times a whole number; of epochs, times a power of two), so that it stays below 3 % of the
// time even where it takes almost a third of a step.
bool records_learning(const TrainConfig& config, const StepSpan& end);

}  // namespace heed
