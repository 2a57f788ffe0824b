// What can be said of a run from its two loss curves: whether it overfits, and why the curves are
// not of quite the same quantity.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/run_config.h"

namespace heed {

struct LossPoint {
  std::int64_t step;
  double loss;
};

struct LossCurves {
  std::vector<LossPoint> train, held_out;  // by step
};

// A sentence if held-out loss has turned while training loss still falls, else "". It has turned if
// the last one is above the lowest: by 1 % if two validations or more lie between them, counting
// the last; by 10 % if it is the next. Training losses are compared as means of five, since each is
// of a few batches only.
std::string overfitting(const LossCurves& curves);

// How the training losses of a run are measured, compared with the held-out ones: a sentence or
// two.
std::string training_loss_note(const RunConfig& config);

}  // namespace heed
