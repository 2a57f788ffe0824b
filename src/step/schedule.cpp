#include "step/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace heed {
namespace {

// wsd without its warm-up.
double falling_rate(const OptimizerConfig& c, double step) {
  const double end = static_cast<double>(c.decay_steps), length = c.decay_fraction * end;
  if (end - step >= length) return c.learning_rate;  // to the last bit, whatever the end
  const double left = std::max((end - step) / length, 0.0);
  return c.min_learning_rate + (c.learning_rate - c.min_learning_rate) * left;
}

}  // namespace

double learning_rate(const OptimizerConfig& c, int d_model, std::int64_t step) {
  const double t = static_cast<double>(step), warmup = static_cast<double>(c.warmup_steps);
  if (c.schedule == ScheduleType::noam)
    return c.learning_rate * std::pow(d_model, -0.5) *
           std::min(std::pow(t, -0.5), t * std::pow(warmup, -1.5));
  const double rising = step < c.warmup_steps ? c.learning_rate * t / warmup : c.learning_rate;
  if (c.schedule == ScheduleType::wsd) return std::min(rising, falling_rate(c, t));
  if (step < c.warmup_steps) return rising;
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
    case ScheduleType::constant:
    case ScheduleType::wsd:   // above
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
