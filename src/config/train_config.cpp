#include "config/train_config.h"
#include "base/std_names.h"

namespace heed {

vector<Field> fields(OptimizerConfig& c, const vector<KindDoc>& optimizers,
                     const vector<KindDoc>& schedules) {
  constexpr Range kSteps = between(0, 1e12);
  constexpr auto kFuture = OnResume::allowed;  // changes later steps only
  const Choice type = choice(c.type, names(optimizers)),
               schedule = choice(c.schedule, names(schedules));
  const auto moved_by = [&](const char* key, bool dumped = true) {
    return among("optimizer.type", type, names(optimizers, key), dumped);
  };
  const auto scheduled_by = [&](const char* key, bool dumped = true) {
    return among("optimizer.schedule", schedule, names(schedules, key), dumped);
  };
  const string falls_last = scheduled_by("decay_fraction").where;
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

vector<Field> fields(TrainConfig& c, const When& validated) {
  constexpr auto kAllowed = OnResume::allowed;
  const When repeated{"train.eval_every above 0",
                      c.eval_every.count > 0 ? "" : "train.eval_every is 0"};
  return {
      {"batch_tokens", &c.batch_tokens,
       "source and target tokens of one step, with `<s>` and `</s>`", between(1, 1e9)},
      {"shards", &c.shards,
       "parts of a step, shared among the threads; they affect the results, threads do not",
       between(1, 1'024)},
      {"micro_batch_tokens", &c.micro_batch_tokens,
       "tokens of a shard that go through the model at once; 0 = chosen from the config",
       between(0, 1e9)},
      {"ema_decay", &c.ema_decay,
       "decay of the averaged weights, in step t at most t / (9 + t); 0 = off", kFraction},
      only(validated,
           {"select_by",
            choice(c.select_by, {"loss", "accuracy", "bleu", "chrf", "token_errors", "exact"}),
            "what decides the best checkpoint; bleu, chrf, exact (percent of the lines): "
            "of greedy translations; bleu splits them at spaces (tokenize none)"}),
      {"max_steps", &c.max_steps, "stop after this many steps; 0 = no limit", between(0, 1e12),
       OnResume::if_rates_stay},
      {"max_epochs", &c.max_epochs, "stop after this many epochs; 0 = no limit", between(0, 1e9),
       OnResume::if_rates_stay},
      {"max_minutes", &c.max_minutes, "stop this long after the start or resume; 0 = no limit",
       between(0, 1e9), kAllowed},
      {"log_every", &c.log_every, "steps or \"N epochs\"; 0 = only at the end", kAny, kAllowed},
      {"eval_every", &c.eval_every, "the same for validation", kAny, kAllowed},
      {"save_every", &c.save_every, "the same for checkpoints", kAny, kAllowed},
      only(validated,
           only(repeated, {"patience", &c.patience,
                           "stop after this many validations without a new best; 0 = never",
                           between(0, 1'000'000), kAllowed})),
      {"keep_last", &c.keep_last, "checkpoints kept, in addition to the best; 0 = all",
       between(0, 1'000'000), kAllowed},
      {"keep_every", &c.keep_every,
       "also kept: checkpoints whose step is a multiple of this; 0 = none", between(0, 1e12),
       kAllowed},
      {"threads", &c.threads, "0 = all cores", between(0, 1'024), kAllowed},
      {"arithmetic", choice(c.arithmetic, {"native", "portable"}),
       "native = with the kernels for this processor; portable = the same bytes on every x86-64-v3 "
       "processor, with every supported OpenBLAS"},
      {"precision", choice(c.precision, {"float32", "bfloat16"}),
       "float32, or bfloat16: with rounded operands of linear layers, faster on processors with "
       "AVX512_BF16 or AMX"},
      {"rank_timeout", &c.rank_timeout,
       "under mpirun, seconds without a message after which a rank counts as lost; 0 = never",
       between(0, 1e6), kAllowed},
      dumped_if(!c.prompt.empty(),
                {"prompt", &c.prompt,
                 "what samples and the film begin with, with [MASK] where the model fills it in; "
                 "empty = chosen from the held-out text",
                 kAny, kAllowed}),
      {"tensorboard", &c.tensorboard, "also write the run's tensorboard/, which TensorBoard shows",
       kAny, kAllowed},
      dumped_if(c.live != "auto",
                {"live", choice(c.live, {"auto", "true", "false"}),
                 "write live.html, a page to type to; auto = if below 3 MB", kAny, kAllowed}),
  };
}

}  // namespace heed
