// Optimizer and learning rate: the section `optimizer` of a config. Plain values; the rules between
// keys are in data/config_rules.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace heed {

struct Field;

enum class OptimizerType { adamw, adam, sgd, muon };
enum class ScheduleType { constant, linear, cosine, inverse_sqrt, noam, wsd };

struct OptimizerConfig {
  OptimizerType type = OptimizerType::adamw;
  double learning_rate = 1e-3;
  std::array<double, 2> betas{0.9, 0.98};  // sgd: unused
  double eps = 1e-8;                       // sgd: unused
  double momentum = -1.0;                  // sgd, muon; -1 (not given): 0.95 for muon, else 0
  // Decoupled: w -= rate * weight_decay * w. -1 (not given): 0.01 for adamw and muon, else 0. adam
  // has none.
  double weight_decay = -1.0;
  double clip_norm = 1.0;  // 0: no clipping
  ScheduleType schedule = ScheduleType::cosine;
  std::int64_t warmup_steps = 100;
  double min_learning_rate = 0.0;
  // linear, cosine, wsd: the step of min_learning_rate. 0 (not given): train.max_steps at the
  // start. linear, cosine: if warmup_steps is not less (in a shortened run), the rate drops to
  // min_learning_rate at step warmup_steps.
  std::int64_t decay_steps = 0;
  double decay_fraction = 0.2;  // wsd: the share of decay_steps over which the rate falls
};

// How many weight-sized arrays an optimizer keeps.
constexpr int moments_of(const OptimizerConfig& c) {
  return c.type != OptimizerType::sgd ? 2 : c.momentum > 0 ? 1 : 0;
}

// Does the rate fall to min_learning_rate at decay_steps?
constexpr bool decays(const OptimizerConfig& c) {
  return c.schedule == ScheduleType::linear || c.schedule == ScheduleType::cosine ||
         c.schedule == ScheduleType::wsd;
}

std::vector<Field> fields(OptimizerConfig& c);

}  // namespace heed
