// Is a run over? What ends a training, leaves `heed resume` nothing to do, and makes a run
// "finished" for `heed runs`.
#pragma once

#include "config/train_config.h"
#include "store/state.h"

namespace heed {

enum class End { none, steps, epochs, patience };

inline End end_of(const TrainConfig& t, const State& s) {
  if (t.max_steps > 0 && s.step >= t.max_steps) return End::steps;
  if (t.max_epochs > 0 && s.cursor.epoch >= t.max_epochs) return End::epochs;
  if (t.patience > 0 && s.stalled >= t.patience) return End::patience;
  return End::none;
}

}  // namespace heed
