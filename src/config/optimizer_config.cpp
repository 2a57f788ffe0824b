#include "config/optimizer_config.h"

namespace heed {

std::vector<Field> fields(OptimizerConfig& c, const std::vector<KindDoc>& optimizers,
                          const std::vector<KindDoc>& schedules) {
  constexpr Range kSteps = between(0, 1e12);
  constexpr auto kFuture = OnResume::allowed;  // changes later steps only
  const std::string type = "optimizer.type is " + c.type;
  const bool betas = uses(optimizers, c.type, "betas");
  const std::string no_momentum =
      betas ? type + ", whose momentum is the first of optimizer.betas" : type + ", which has none";
  return {
      {"type", choice(c.type, names(optimizers)), meanings(optimizers)},
      {"learning_rate", &c.learning_rate, "the highest rate of the schedule (noam: a factor)",
       above(0, 1e6), kFuture},
      {"betas", &c.betas, users(optimizers, "betas") + ": decay of Adam's two running averages",
       kFraction},
      {"eps", &c.eps,
       users(optimizers, "eps") + ": Adam's, added to the square root after bias correction",
       above(0, 1)},
      {"momentum", &c.momentum,
       users(optimizers, "momentum") + ": of the gradient (0 = none); muon's is Nesterov's",
       kFraction, OnResume::refused, defaults(optimizers, "momentum"),
       uses(optimizers, c.type, "momentum") ? "" : no_momentum},
      {"weight_decay", &c.weight_decay,
       users(optimizers, "weight_decay") + ": decoupled, on every matrix", between(0, 1e3),
       OnResume::refused, defaults(optimizers, "weight_decay"),
       uses(optimizers, c.type, "weight_decay") ? "" : type + ", which has no decay"},
      {"clip_norm", &c.clip_norm, "scale larger gradients down to this norm; 0 = never",
       between(0, 1e12), kFuture},
      {"schedule", choice(c.schedule, names(schedules)), "how the rate changes after the warm-up",
       kAny, OnResume::if_rates_stay},
      {"warmup_steps", &c.warmup_steps, "the rate rises over this many steps", kSteps,
       OnResume::if_rates_stay},
      {"min_learning_rate", &c.min_learning_rate,
       users(schedules, "decay_steps") + ": the rate at the end", between(0, 1e6), kFuture},
      {"decay_steps", &c.decay_steps,
       users(schedules, "decay_steps") +
           ": the step at which the rate reaches min_learning_rate; \"end\" (" +
           users(schedules, "decay_fraction") +
           "): where the run ends, also when it gets another end",
       kSteps, OnResume::if_rates_stay,
       users(schedules, "decay_fraction") +
           ": \"end\"; else where train.max_steps or max_epochs ends the run as it starts"},
      {"decay_fraction", &c.decay_fraction,
       users(schedules, "decay_fraction") +
           ": the rate is constant, then falls over this last share of decay_steps",
       above(0, 1), OnResume::if_rates_stay, "",
       uses(schedules, c.schedule, "decay_fraction")
           ? ""
           : "only optimizer.schedule " + users(schedules, "decay_fraction") + " has it"},
  };
}

}  // namespace heed
