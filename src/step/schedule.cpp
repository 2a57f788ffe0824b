#include "step/schedule.h"
#include "base/std_names.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace heed {
namespace {

// The share of the way from warmup_steps to decay_steps.
double done(const OptimizerConfig& c, double step) {
  const double begin = c.warmup_steps, length = c.decay_steps - begin;
  if (step < begin) return 0;
  return length > 0 ? min(1.0, (step - begin) / length) : 1.0;
}

double between_rates(const OptimizerConfig& c, double share) {
  return c.min_learning_rate + (c.learning_rate - c.min_learning_rate) * share;
}

double constant(const OptimizerConfig& c, int, double) {
  return c.learning_rate;
}

double linear(const OptimizerConfig& c, int, double step) {
  return between_rates(c, 1.0 - done(c, step));
}

double cosine(const OptimizerConfig& c, int, double step) {
  return between_rates(c, 0.5 * (1.0 + std::cos(std::numbers::pi * done(c, step))));
}

double inverse_sqrt(const OptimizerConfig& c, int, double step) {
  return c.learning_rate * sqrt(max(1.0, double(c.warmup_steps)) / step);
}

double wsd(const OptimizerConfig& c, int, double step) {
  const double end = c.decay_steps, length = c.decay_fraction * end;
  if (end - step >= length) return c.learning_rate;  // to the last bit, whatever the end
  return min(c.learning_rate, between_rates(c, max((end - step) / length, 0.0)));
}

double noam(const OptimizerConfig& c, int d_model, double step) {
  return c.learning_rate * pow(d_model, -0.5) *
         min(pow(step, -0.5), step * pow(c.warmup_steps, -1.5));
}

}  // namespace

vector<ScheduleKind>& schedules() {
  static vector<ScheduleKind> kinds = {
      {{"constant", "", {}}, constant},
      {{"linear", "", {"decay_steps"}}, linear},
      {{"cosine", "", {"decay_steps"}}, cosine},
      {{"inverse_sqrt", "", {}}, inverse_sqrt},
      {{"noam", "", {}}, noam, true},
      {{"wsd", "", {"decay_steps", "decay_fraction"}}, wsd},
  };
  return kinds;
}

double learning_rate(const OptimizerConfig& c, int d_model, int64_t step) {
  const double rate = kind_named(schedules(), c.schedule).rate(c, d_model, step);
  if (step >= c.warmup_steps) return rate;
  return min(c.learning_rate * step / c.warmup_steps, rate);
}

Fall fall_of(const OptimizerConfig& c) {
  const KindDoc& schedule = kind_named(schedules(), c.schedule).doc;
  const StepOrEnd& end = c.decay_steps;
  if (schedule.uses("decay_fraction"))
    return {int64_t(end.step - c.decay_fraction * end.step), end.step, end.at_end};
  if (schedule.uses("decay_steps")) return {.to = max(end.step, c.warmup_steps)};
  return {};
}

}  // namespace heed
