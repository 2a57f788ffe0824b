#include "data/batch_feed.h"

#include <utility>

namespace heed {

StepBatch& BatchFeed::batch(std::int64_t step, Cursor cursor) {
  std::swap(now_, next_);
  if (now_.step != step || now_.before != cursor) fill(step, cursor, now_);
  return now_.batch;
}

void BatchFeed::fill(std::int64_t step, Cursor cursor, Filled& out) {
  out.after = batcher_.fill(step, cursor, out.batch);
  out.step = step;
  out.before = cursor;
}

StepOptions step_options(const RunConfig& config) {
  return {.optimizer = config.optimizer,
          .shards = config.train.shards,
          .label_smoothing = config.objective.label_smoothing,
          .ema_decay = config.train.ema_decay,
          .seed = config.seed};
}

}  // namespace heed
