#include "train/schedule_in_words.h"

#include <fmt/core.h>

#include "step/schedule.h"

namespace heed {

std::string schedule_in_words(const OptimizerConfig& c, std::int64_t max_steps) {
  const bool ends = max_steps > 0, wsd = c.schedule == ScheduleType::wsd;
  const auto rate = [&](std::int64_t step) { return learning_rate(c, 1, step); };
  if (ends && c.warmup_steps >= max_steps && rate(max_steps) >= rate(max_steps - 1))
    return fmt::format("rises to the end of the run, which is within optimizer.warmup_steps ({})",
                       c.warmup_steps);
  if (decays(c) && c.warmup_steps >= (wsd ? full_rate_until(c) + 1 : c.decay_steps))
    return fmt::format("rises until it {} {:g} at step {} (optimizer.warmup_steps is {})",
                       wsd ? "meets the fall to" : "drops to", c.min_learning_rate,
                       wsd ? c.decay_steps : c.warmup_steps, c.warmup_steps);
  std::string text =
      c.warmup_steps > 0 ? fmt::format("rises over {} steps", c.warmup_steps) : "begins";
  if (c.schedule != ScheduleType::noam)
    text += fmt::format(" {} {:g}", c.warmup_steps > 0 ? "to" : "at", c.learning_rate);
  if (c.schedule == ScheduleType::constant) return text + ", stays";
  if (!decays(c)) return text + ", falls as 1 / sqrt(step)";
  if (wsd && ends && full_rate_until(c) >= max_steps) return text + ", stays to the end of the run";
  if (wsd && full_rate_until(c) > 0)
    text += fmt::format(", stays until step {}", full_rate_until(c));
  return text + fmt::format(", falls{} to {:g} at step {}{}",
                            wsd                                  ? ""
                            : c.schedule == ScheduleType::linear ? " (linear)"
                                                                 : " (cosine)",
                            c.min_learning_rate, c.decay_steps,
                            max_steps > c.decay_steps ? ", stays" : "");
}

}  // namespace heed
