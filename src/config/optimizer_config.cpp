#include "config/optimizer_config.h"

#include "config/fields.h"

namespace heed {

std::vector<Field> fields(OptimizerConfig& c) {
  constexpr Range kSteps = between(0, 1e12);
  constexpr auto kFuture = OnResume::allowed;  // changes later steps only
  const std::string no_decay =
      c.type == OptimizerType::adam ? "optimizer.type is adam, which has no decay" : "";
  const bool adam = c.type == OptimizerType::adamw || c.type == OptimizerType::adam;
  const std::string no_momentum =
      adam ? "optimizer.type is adam or adamw, whose momentum is the first of optimizer.betas" : "";
  const std::string no_fraction =
      c.schedule != ScheduleType::wsd ? "only optimizer.schedule wsd has it" : "";
  return {
      {"type", choice(c.type, {"adamw", "adam", "sgd", "muon"}),
       "muon: orthogonalised momentum for the matrices of the layers, adamw for the rest, both at "
       "learning_rate"},
      {"learning_rate", &c.learning_rate, "the highest rate of the schedule (noam: a factor)",
       above(0, 1e6), kFuture},
      {"betas", &c.betas, "adamw, adam, muon: decay of Adam's two running averages", kFraction},
      {"eps", &c.eps, "adamw, adam, muon: Adam's, added to the square root after bias correction",
       above(0, 1)},
      {"momentum", &c.momentum, "sgd: of the gradient, 0 = none; muon: Nesterov's", kFraction,
       OnResume::refused, "0 (sgd), 0.95 (muon)", no_momentum},
      {"weight_decay", &c.weight_decay,
       "adamw, sgd, muon: decoupled, on every matrix (adam has none and rejects the key)",
       between(0, 1e3), OnResume::refused, "0.01 (adamw, muon), 0 (sgd)", no_decay},
      {"clip_norm", &c.clip_norm, "scale larger gradients down to this norm; 0 = never",
       between(0, 1e12), kFuture},
      {"schedule",
       choice(c.schedule, {"constant", "linear", "cosine", "inverse_sqrt", "noam", "wsd"}),
       "how the rate changes after the warm-up", kAny, OnResume::branch},
      {"warmup_steps", &c.warmup_steps, "the rate rises over this many steps", kSteps,
       OnResume::branch},
      {"min_learning_rate", &c.min_learning_rate, "linear, cosine, wsd: the rate at the end",
       between(0, 1e6), kFuture},
      {"decay_steps", &c.decay_steps,
       "linear, cosine, wsd: the step at which the rate reaches min_learning_rate; fixed when the "
       "run starts; 0 = train.max_steps",
       kSteps, OnResume::branch, "train.max_steps"},
      {"decay_fraction", &c.decay_fraction,
       "wsd: the rate is constant, then falls over this last share of decay_steps", above(0, 1),
       OnResume::branch, "", no_fraction},
  };
}

}  // namespace heed
