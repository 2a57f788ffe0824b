// Optimizer and learning rate: the section `optimizer` of a config. Plain values; the rules between
// keys are in data/config_rules.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "config/fields.h"

namespace heed {

struct OptimizerConfig {
  std::string type = "adamw";  // a name in the table of step/optimizers.cpp
  double learning_rate = 1e-3;
  std::array<double, 2> betas{0.9, 0.98};
  double eps = 1e-8;
  double momentum = -1.0;           // -1 (not given): as the table says
  double weight_decay = -1.0;       // decoupled: w -= rate * weight_decay * w. -1: likewise
  double clip_norm = 1.0;           // 0: no clipping
  std::string schedule = "cosine";  // a name in the table of step/schedule.cpp
  std::int64_t warmup_steps = 100;
  double min_learning_rate = 0.0;
  // The step of min_learning_rate (step/schedule.h). 0 (not given): where the run ends
  // (train.max_steps, max_epochs), by wsd wherever that is, else as planned at the start.
  StepOrEnd decay_steps;
  double decay_fraction = 0.2;  // the share of decay_steps over which the rate falls
};

std::vector<Field> fields(OptimizerConfig& c, const std::vector<KindDoc>& optimizers,
                          const std::vector<KindDoc>& schedules);

}  // namespace heed
