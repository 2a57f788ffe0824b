// How long a run's steps and validations take here, measured on a throw-away training of the same
// model and data. Only plans depend on it: nothing of it enters the run.
#pragma once

#include "base/pool.h"
#include "train/prepared_run.h"

namespace heed {

struct Speed {
  double step = 0, validation = 0;  // seconds
  double epochs = 0;                // of one step
};

// From 20 steps after two of warm-up and one validation; from less, if one of the two takes longer
// than `seconds`.
Speed measure_speed(const PreparedRun& prepared, Pool& pool, double seconds);

}  // namespace heed
