#include "train/intervals.h"

namespace heed {
namespace {

constexpr std::int64_t kRecordSteps = 10;

}  // namespace

bool is_due(const Interval& interval, const StepSpan& end) {
  if (interval.count == 0) return false;
  if (!interval.epochs) return end.step % interval.count == 0;
  return end.after.epoch / interval.count != end.before.epoch / interval.count;
}

bool records_learning(const TrainConfig& config, const StepSpan& end) {
  const bool last_epoch = config.max_epochs > 0 && end.after.epoch >= config.max_epochs;
  if (end.step == config.max_steps || last_epoch) return true;
  Interval every = config.log_every;
  if (every.count == 0 || (every.epochs && end.after.epoch == 0)) return false;
  if (every.epochs) {
    // A power of two, so that epochs of slightly different lengths mostly give the same n.
    const double epoch_steps = static_cast<double>(end.step) / static_cast<double>(end.after.epoch);
    while (static_cast<double>(every.count) * epoch_steps < kRecordSteps) every.count *= 2;
  } else {
    every.count *= (kRecordSteps + every.count - 1) / every.count;
  }
  return is_due(every, end);
}

}  // namespace heed
