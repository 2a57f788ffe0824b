// Length of training, batch size, intervals: the section `train` of a config. Plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/fields.h"
#include "math/arithmetic.h"
#include "math/bfloat16.h"

namespace heed {

struct TrainConfig {
  int batch_tokens = 4096;  // source + target tokens of one step
  int shards = 4;
  int micro_batch_tokens = 0;      // 0: a fixed function of the config
  double ema_decay = 0.0;          // 0: off
  std::string select_by = "loss";  // or a figure of evaluate/figures.cpp
  std::int64_t max_steps = 1000;   // 0: no limit
  int max_epochs = 0;              // 0: no limit
  double max_minutes = 0.0;        // 0: no limit
  Interval log_every{50};
  Interval eval_every{250};
  Interval save_every{250};
  int patience = 0;             // validations without a new best before stopping; 0: never
  int keep_last = 3;            // checkpoints kept, in addition to the best; 0: all
  std::int64_t keep_every = 0;  // also those of multiples of this step; 0: none
  int threads = 0;              // 0: all cores
  double rank_timeout = 300;    // seconds
  bool tensorboard = false;
  Arithmetic arithmetic = Arithmetic::native;
  Precision precision = Precision::float32;
};

// `pairs`, `validated`: where a key is for pairs, or for a run with held-out data.
std::vector<Field> fields(TrainConfig& c, const When& validated);

}  // namespace heed
