// The batches of a training, one after the other. While a step computes on one batch, whichever
// thread is free fills the next.
#pragma once

#include "data/batcher.h"
#include "step/stepper.h"

namespace heed {

class BatchFeed {
 public:
  // References must outlive it.
  BatchFeed(const Objective& objective, const Split& split, const RunConfig& config)
      : batcher_(objective, split, config) {}

  // The batch of a step, which begins at this cursor. Valid until the next call.
  StepBatch& batch(std::int64_t step, Cursor cursor);
  // Where the step after it begins.
  Cursor after() const { return now_.after; }
  // Fills the batch of that step. May run beside anything that only reads the present batch.
  void fill_next() { fill(now_.step + 1, now_.after, next_); }

 private:
  struct Filled {
    StepBatch batch;
    std::int64_t step = 0;  // 0: none yet
    Cursor before, after;
  };
  void fill(std::int64_t step, Cursor cursor, Filled& out);

  Batcher batcher_;
  Filled now_, next_;
};

// What of a config an optimizer step depends on.
StepOptions step_options(const RunConfig& config);

}  // namespace heed
