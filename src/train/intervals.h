// Which steps end an interval: of log lines, validations, checkpoints. A pure function of the step,
// so a resumed run does at each step what an uninterrupted one does.
#pragma once

#include "config/train_config.h"
#include "store/state.h"

namespace heed {

struct StepSpan {
  std::int64_t step = 0;  // steps done
  Cursor before, after;   // of the last one
};

inline bool is_due(const Interval& interval, const StepSpan& end) {
  if (interval.count == 0) return false;
  if (!interval.epochs) return end.step % interval.count == 0;
  return end.after.epoch / interval.count != end.before.epoch / interval.count;
}

}  // namespace heed
