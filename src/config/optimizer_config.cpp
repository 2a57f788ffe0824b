#include "config/optimizer_config.h"

namespace heed {

std::vector<Field> fields(OptimizerConfig& c, const std::vector<KindDoc>& optimizers,
                          const std::vector<KindDoc>& schedules) {
  constexpr Range kSteps = between(0, 1e12);
  constexpr auto kFuture = OnResume::allowed;  // changes later steps only
  const Choice type = choice(c.type, names(optimizers)),
               schedule = choice(c.schedule, names(schedules));
  const auto moved_by = [&](const char* key, bool dumped = true) {
    return among("optimizer.type", type, users(optimizers, key), dumped);
  };
  const auto scheduled_by = [&](const char* key, bool dumped = true) {
    return among("optimizer.schedule", schedule, users(schedules, key), dumped);
  };
  const std::string falls_last = scheduled_by("decay_fraction").where;
  return {
      {"type", type, meanings(optimizers)},
      {"learning_rate", &c.learning_rate, "the highest rate of the schedule (noam: a factor)",
       above(0, 1e6), kFuture},
      only(moved_by("betas"),
           {"betas", &c.betas, "decay of Adam's two running averages", kFraction}),
      only(moved_by("eps"),
           {"eps", &c.eps, "Adam's, added to the square root after bias correction", above(0, 1)}),
      only(moved_by("momentum", false),
           {"momentum", &c.momentum,
            "of the gradient (0 = none); muon's is Nesterov's, Adam's the first of betas",
            kFraction, OnResume::refused, defaults(optimizers, "momentum")}),
      only(moved_by("weight_decay", false),
           {"weight_decay", &c.weight_decay, "decoupled, on every matrix", between(0, 1e3),
            OnResume::refused, defaults(optimizers, "weight_decay")}),
      {"clip_norm", &c.clip_norm, "scale larger gradients down to this norm; 0 = never",
       between(0, 1e12), kFuture},
      {"schedule", schedule, "how the rate changes after the warm-up", kAny,
       OnResume::if_rates_stay},
      {"warmup_steps", &c.warmup_steps, "the rate rises over this many steps", kSteps,
       OnResume::if_rates_stay},
      only(scheduled_by("decay_steps"), {"min_learning_rate", &c.min_learning_rate,
                                         "the rate at the end", between(0, 1e6), kFuture}),
      only(scheduled_by("decay_steps"),
           {"decay_steps", &c.decay_steps,
            "the step at which the rate reaches min_learning_rate; \"end\" (" + falls_last +
                "): where the run ends, also when it gets another end",
            kSteps, OnResume::if_rates_stay,
            falls_last +
                ": \"end\"; else where train.max_steps or max_epochs ends the run as it starts"}),
      only(scheduled_by("decay_fraction", false),
           {"decay_fraction", &c.decay_fraction,
            "the rate is constant, then falls over this last share of decay_steps", above(0, 1),
            OnResume::if_rates_stay}),
  };
}

}  // namespace heed
