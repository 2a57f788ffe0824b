#include "train/schedule_in_words.h"

#include <fmt/core.h>

#include "base/format.h"
#include "step/schedule.h"

namespace heed {

std::string schedule_in_words(const OptimizerConfig& c, std::int64_t end) {
  const ScheduleKind& kind = schedule_of(c);
  const bool ends = end > 0, stable = kind.doc.uses("decay_fraction");
  const auto rate = [&](std::int64_t step) { return learning_rate(c, 1, step); };
  if (ends && c.warmup_steps >= end && rate(end) >= rate(end - 1))
    return fmt::format("rises to the end of the run, which is within optimizer.warmup_steps ({})",
                       c.warmup_steps);
  if (decays(c) && c.warmup_steps >= (stable ? full_rate_until(c) + 1 : c.decay_steps.step))
    return fmt::format("rises until it {} {:g} at step {} (optimizer.warmup_steps is {})",
                       stable ? "meets the fall to" : "drops to", c.min_learning_rate,
                       decayed_at(c), c.warmup_steps);
  std::string text = c.warmup_steps > 0
                         ? "rises over " + counted(std::to_string(c.warmup_steps), "step")
                         : "begins";
  if (!kind.factor)
    text += fmt::format(" {} {:g}", c.warmup_steps > 0 ? "to" : "at", c.learning_rate);
  if (!decays(c)) return text + ", " + kind.after_warmup;
  if (ends && full_rate_until(c) >= end) return text + ", stays to the end of the run";
  if (full_rate_until(c) > 0) text += fmt::format(", stays until step {}", full_rate_until(c));
  return text + fmt::format(", {} to {:g} at step {}{}", kind.after_warmup, c.min_learning_rate,
                            c.decay_steps.step, end > c.decay_steps ? ", stays" : "");
}

}  // namespace heed
