// How a model is trained: the sections `optimizer` (with the learning rate) and `train` (length,
// batch size, intervals) of a config. Plain values; the rules between keys are in
// data/config_rules.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/std_names.h"
#include "config/fields.h"
#include "math/blas.h"
#include "math/products.h"

namespace heed {

struct OptimizerConfig {
  string type = "adamw";  // a name in the table of step/optimizers.cpp
  double learning_rate = 1e-3;
  array<double, 2> betas{0.9, 0.98};
  double eps = 1e-8;
  double momentum = -1.0;      // -1 (not given): as the table says
  double weight_decay = -1.0;  // decoupled: w -= rate * weight_decay * w. -1: likewise
  double clip_norm = 1.0;      // 0: no clipping
  string schedule = "cosine";  // a name in the table of step/schedule.cpp
  int64_t warmup_steps = 100;
  double min_learning_rate = 0.0;
  // The step of min_learning_rate (step/schedule.h). 0 (not given): where the run ends
  // (train.max_steps, max_epochs), by wsd wherever that is, else as planned at the start.
  StepOrEnd decay_steps;
  double decay_fraction = 0.2;  // the share of decay_steps over which the rate falls
};

vector<Field> fields(OptimizerConfig& c, const vector<KindDoc>& optimizers,
                     const vector<KindDoc>& schedules);

struct TrainConfig {
  int batch_tokens = 4096;  // source + target tokens of one step
  int shards = 4;
  int micro_batch_tokens = 0;  // 0: a fixed function of the config
  double ema_decay = 0.0;      // 0: off
  string select_by = "loss";   // or a figure of evaluate/figures.cpp
  int64_t max_steps = 1000;    // 0: no limit
  int max_epochs = 0;          // 0: no limit
  double max_minutes = 0.0;    // 0: no limit
  Interval log_every{50};
  Interval eval_every{250};
  Interval save_every{250};
  int patience = 0;           // validations without a new best before stopping; 0: never
  int keep_last = 3;          // checkpoints kept, in addition to the best; 0: all
  int64_t keep_every = 0;     // also those of multiples of this step; 0: none
  int threads = 0;            // 0: all cores
  double rank_timeout = 300;  // seconds
  bool tensorboard = false;
  string live = "auto";  // "true", "false"
  string prompt;         // of samples and film; "": chosen (show/prompt.h)
  Arithmetic arithmetic = Arithmetic::native;
  Precision precision = Precision::float32;
};

// `validated`: where a key is for a run with held-out data.
vector<Field> fields(TrainConfig& c, const When& validated);

}  // namespace heed
