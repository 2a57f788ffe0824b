// The learning rate of a step. Steps count from 1. (cosine: Loshchilov and Hutter 2017.)
#pragma once

#include <cstdint>

#include "config/optimizer_config.h"

namespace heed {

// All but noam: learning_rate * step / warmup_steps before step warmup_steps, from there on
//   constant      learning_rate
//   linear        straight down to min_learning_rate at decay_steps
//   cosine        half a cosine down to min_learning_rate at decay_steps
//   inverse_sqrt  learning_rate * sqrt(max(1, warmup_steps) / step)
//   wsd           learning_rate, then straight down to min_learning_rate over the last
//                 decay_fraction * decay_steps (warm-up, stable, decay: Hu et al. 2024, section 4);
//                 a warm-up that reaches into the decay ends where they meet
// noam: learning_rate * d_model^-0.5 * min(step^-0.5, step * warmup_steps^-1.5) (Vaswani et al.
// 2017, section 5.3)
double learning_rate(const OptimizerConfig& config, int d_model, std::int64_t step);

// wsd: the last step before the decay.
std::int64_t full_rate_until(const OptimizerConfig& config);

}  // namespace heed
