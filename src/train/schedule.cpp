#include "train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace heed {

double learning_rate(const OptimizerConfig& c, int d_model, std::int64_t step) {
  const double t = static_cast<double>(step), warmup = static_cast<double>(c.warmup_steps);
  if (c.schedule == ScheduleType::noam)
    return c.learning_rate * std::pow(d_model, -0.5) *
           std::min(std::pow(t, -0.5), t * std::pow(warmup, -1.5));
  if (step < c.warmup_steps) return c.learning_rate * t / warmup;
  const double length = static_cast<double>(c.decay_steps - c.warmup_steps);
  const double done = length > 0 ? std::min(1.0, (t - warmup) / length) : 1.0;
  const double above = c.learning_rate - c.min_learning_rate;
  switch (c.schedule) {
    case ScheduleType::linear:
      return c.min_learning_rate + above * (1.0 - done);
    case ScheduleType::cosine:
      return c.min_learning_rate + above * 0.5 * (1.0 + std::cos(std::numbers::pi * done));
    case ScheduleType::inverse_sqrt:
      return c.learning_rate * std::sqrt(std::max(1.0, warmup) / t);
    case ScheduleType::wsd: {
      const double end = static_cast<double>(c.decay_steps), falling = c.decay_fraction * end;
      if (end - t >= falling) return c.learning_rate;  // to the last bit, whatever the end
      return c.min_learning_rate + above * std::max((end - t) / falling, 0.0);
    }
    case ScheduleType::constant:
    case ScheduleType::noam:  // above
      break;
  }
  return c.learning_rate;
}

std::int64_t full_rate_until(const OptimizerConfig& c) {
  const double end = static_cast<double>(c.decay_steps);
  return static_cast<std::int64_t>(end - c.decay_fraction * end);
}

}  // namespace heed
