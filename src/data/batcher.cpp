#include "data/batcher.h"

#include <algorithm>

#include "base/noise.h"
#include "base/std_names.h"

namespace heed {

int micro_batch_tokens(const RunConfig& config) {
  // 512: enough rows for a product at full speed; memory for backward grows with them.
  return config.train.micro_batch_tokens > 0 ? config.train.micro_batch_tokens : 512;
}

double epochs_at(const Objective& objective, const Split& split, const Cursor& cursor) {
  const double count = objective.count(split, cursor.epoch);
  return cursor.epoch + cursor.index / max(1.0, count);
}

Batcher::Taken Batcher::take(Cursor& cursor) {
  const int64_t count = objective_.count(split_, cursor.epoch);
  Taken taken;
  for (; cursor.index < count; ++cursor.index) {
    if (taken.n == taken_.size()) taken_.emplace_back();
    Example& e = taken_[taken.n];
    objective_.example(split_, cursor.epoch, cursor.index, e);
    if (taken.n > 0 && taken.tokens + e.tokens() > config_.train.batch_tokens) break;
    taken.tokens += e.tokens();
    taken.labels += e.scored();
    ++taken.n;
  }
  if (cursor.index >= count) cursor = {cursor.epoch + 1, 0};
  return taken;
}

Batcher::Ahead Batcher::ahead(int64_t epochs, int64_t most) {
  Ahead ahead;
  Cursor cursor;
  for (; cursor.epoch < epochs && ahead.steps < most; ++ahead.steps)
    ahead.tokens += take(cursor).tokens;
  ahead.epochs = epochs_at(objective_, split_, cursor);
  return ahead;
}

Cursor Batcher::fill(int64_t step, Cursor cursor, StepBatch& out) {
  const bool dropout = has_dropout(config_.model);
  const int shards = config_.train.shards, micro_batch = micro_batch_tokens(config_);
  const Taken taken = take(cursor);
  out.tokens = taken.tokens;
  out.shards.resize(shards);
  out.used.assign(shards, 0);
  out.labels = taken.labels;
  int64_t before = 0;
  int shard = 0, in_micro_batch = 0;
  for (size_t i = 0; i < taken.n; ++i) {
    const Example& e = taken_[i];
    // The shard whose share of the step's tokens holds this example's middle.
    const int wanted = (2 * before + e.tokens()) * shards / (2 * out.tokens);
    const bool next_shard = wanted != shard;
    shard = wanted;
    vector<Batch>& batches = out.shards[shard];
    int& used = out.used[shard];
    if (used == 0 || next_shard || in_micro_batch + e.tokens() > micro_batch) {
      if (size_t(used) == batches.size()) batches.emplace_back();
      batches[used++].clear();
      in_micro_batch = 0;
    }
    in_micro_batch += e.tokens();
    before += e.tokens();
    const uint64_t key = dropout ? noise_key(config_.seed, Purpose::dropout, step, i) : 0;
    batches[used - 1].add(e.source, e.target, e.labels, key);
  }
  return cursor;
}

StepOptions step_options(const RunConfig& config) {
  return {.optimizer = config.optimizer,
          .shards = config.train.shards,
          .label_smoothing = config.objective.label_smoothing,
          .ema_decay = config.train.ema_decay,
          .seed = config.seed};
}

}  // namespace heed
