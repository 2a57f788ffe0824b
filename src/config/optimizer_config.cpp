#include "config/optimizer_config.h"

#include "config/fields.h"

namespace heed {

std::vector<Field> fields(OptimizerConfig& c) {
  constexpr Range kSteps = between(0, 1e12);
  constexpr auto kFuture = OnResume::allowed;  // changes later steps only
  const std::string no_decay =
      c.type == OptimizerType::adam ? "optimizer.type is adam, which has no decay" : "";
  return {
      {"type", choice(c.type, {"adamw", "adam", "sgd"}), "sgd is plain, without momentum"},
      {"learning_rate", &c.learning_rate, "the highest rate of the schedule (noam: a factor)",
       above(0, 1e6), kFuture},
      {"betas", &c.betas, "adamw, adam: decay of the two running averages", kFraction},
      {"eps", &c.eps, "adamw, adam: added to the square root, after bias correction", above(0, 1)},
      {"weight_decay", &c.weight_decay,
       "adamw, sgd: decoupled, on every matrix (adam has none and rejects the key)",
       between(0, 1e3), OnResume::refused, "0.01 (adamw), 0 (sgd)", no_decay},
      {"clip_norm", &c.clip_norm, "scale longer gradients down to this norm; 0 = never",
       between(0, 1e12), kFuture},
      {"schedule", choice(c.schedule, {"constant", "linear", "cosine", "inverse_sqrt", "noam"}),
       "how the rate changes after the warm-up"},
      {"warmup_steps", &c.warmup_steps, "the rate rises over this many steps", kSteps},
      {"min_learning_rate", &c.min_learning_rate, "linear, cosine: the rate at the end",
       between(0, 1e6), kFuture},
      {"decay_steps", &c.decay_steps,
       "linear, cosine: the step at which the rate reaches min_learning_rate; fixed when the run "
       "starts; 0 = train.max_steps",
       kSteps, OnResume::refused, "train.max_steps"},
  };
}

}  // namespace heed
