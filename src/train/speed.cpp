#include "train/speed.h"

#include <algorithm>
#include <vector>

#include "base/clock.h"
#include "base/signals.h"
#include "train/stepper.h"
#include "train/validation.h"

namespace heed {

Speed measure_speed(const PreparedRun& prepared, Pool& pool, double seconds) {
  constexpr int kWarmUp = 2, kSteps = 20;
  const auto objective = make_objective(prepared.config);
  const Split& split = prepared.data.train;
  Stepper stepper(prepared.config, prepared.model, *objective, split, pool);
  State state;
  Speed speed;
  const double begin = seconds_now();
  std::vector<double> times;
  for (int i = 0; i < kWarmUp + kSteps; ++i) {
    const double from = seconds_now();
    if (!stepper.step(state).finite) break;
    if (i == kWarmUp) times.clear();
    times.push_back(seconds_now() - from);
    if (stop_signal() != 0 || seconds_now() - begin > seconds) break;
  }
  // The median: steps that something else on the machine delayed do not count.
  if (!times.empty()) {
    std::ranges::nth_element(times, times.begin() + times.size() / 2);
    speed.step = times[times.size() / 2];
  }
  const double index = static_cast<double>(state.cursor.index);
  const auto count = static_cast<double>(objective->count(split, state.cursor.epoch));
  speed.epochs = (static_cast<double>(state.cursor.epoch) + index / std::max(1.0, count)) /
                 static_cast<double>(std::max<std::int64_t>(1, state.step));
  if (!prepared.config.data.has_validation()) return speed;
  const double before = seconds_now();
  const Validation validation{prepared, *objective};
  const auto late = [&] { return stop_signal() != 0 || seconds_now() - before > seconds; };
  const bool whole = validation.measure(0, stepper.best_values(), pool, late).has_value();
  speed.validation = seconds_now() - before;
  if (!whole)  // training on as many tokens takes longer than scoring them
    speed.validation = std::max(
        speed.validation, speed.step * static_cast<double>(prepared.data.valid.target.size()) /
                              prepared.config.train.batch_tokens);
  return speed;
}

}  // namespace heed
