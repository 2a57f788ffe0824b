// Fills optimizer steps: which examples, in which shard, in which micro-batch. All of it is a pure
// function of the config and the cursor, so that resuming needs nothing else and the numbers don't
// depend on threads.
//
// Examples are taken in the epoch's order (data/objective.h) while they fit into train.batch_tokens
// (source + target tokens), at least one. A step never spans two epochs: the last one of an epoch
// takes what is left. The examples are dealt to train.shards shards in runs of about equal tokens,
// and within a shard to micro-batches of at most train.micro_batch_tokens, at least one example
// each.
#pragma once

#include <utility>
#include <vector>

#include "base/std_names.h"
#include "data/objective.h"
#include "step/gradients.h"
#include "step/stepper.h"

namespace heed {

// How far into the data training is: an epoch's order is a pure function of (seed, epoch).
struct Cursor {
  int64_t epoch = 0;
  int64_t index = 0;  // examples of the epoch already used
  bool operator==(const Cursor&) const = default;
};

// "Epoch 2.5": 2 epochs are done and half of the next one's examples.
double epochs_at(const Objective& objective, const Split& split, const Cursor& cursor);

class Batcher {
 public:
  // References must outlive it.
  Batcher(const Objective& objective, const Split& split, const RunConfig& config)
      : objective_(objective), split_(split), config_(config) {}

  // The batch of optimizer step `step` (its dropout draws are keyed by it), beginning at `cursor`.
  // Returns where the next step begins. Reuses the memory of `out`.
  Cursor fill(int64_t step, Cursor cursor, StepBatch& out);

  // The batch of a step, which begins at this cursor; in a training one after the other. While a
  // step computes on it, whichever thread is free fills the next. Valid until the next call.
  StepBatch& batch(int64_t step, Cursor cursor) {
    std::swap(now_, next_);
    if (now_.step != step || now_.before != cursor) fill(step, cursor, now_);
    return now_.batch;
  }
  // Where the step after it begins.
  Cursor after() const { return now_.after; }
  // Fills the batch of that step. May run beside anything that only reads the present batch.
  void fill_next() { fill(now_.step + 1, now_.after, next_); }

  // The first steps of a training: to the end of `epochs`, but at most `most`. Reads their
  // examples.
  struct Ahead {
    int64_t steps = 0;
    int64_t tokens = 0;  // of all of them
    double epochs = 0;   // that they are
  };
  Ahead ahead(int64_t epochs, int64_t most);

 private:
  // The examples of the step that begins at `cursor`, which moves on, are the first n of taken_.
  struct Taken {
    size_t n = 0;
    int64_t tokens = 0, labels = 0;
  };
  Taken take(Cursor& cursor);

  struct Filled {
    StepBatch batch;
    int64_t step = 0;  // 0: none yet
    Cursor before, after;
  };
  void fill(int64_t step, Cursor cursor, Filled& out) {
    out.after = fill(step, cursor, out.batch);
    out.step = step;
    out.before = cursor;
  }

  const Objective& objective_;
  const Split& split_;
  const RunConfig& config_;
  vector<Example> taken_;  // memory reused from step to step
  Filled now_, next_;
};

// train.micro_batch_tokens, or the value that 0 stands for.
int micro_batch_tokens(const RunConfig& config);

// What of a config an optimizer step depends on.
StepOptions step_options(const RunConfig& config);

}  // namespace heed
