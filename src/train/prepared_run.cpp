#include "train/prepared_run.h"

#include <fmt/core.h>
#include <utf8proc.h>

#include <algorithm>
#include <limits>
#include <string>

#include "base/cgroup.h"
#include "base/error.h"
#include "base/format.h"
#include "base/signals.h"
#include "data/batcher.h"
#include "data/objective.h"
#include "evaluate/scorer.h"
#include "evaluate/yardsticks.h"
#include "math/arithmetic.h"
#include "math/blas.h"
#include "show/film.h"
#include "step/optimizer.h"
#include "step/schedule.h"
#include "store/model.h"
#include "train/ranks.h"

namespace heed {
namespace {

// Numbers kept per row of one block, about: what the Saved structs of its layers hold.
double block_row(const ModelConfig& c, bool cross, double keys) {
  const double d = c.d_model, kv = kv_width(c);
  const double attention = 4 * d + 2 * kv + (c.qk_norm ? d + kv : 0) + c.n_heads * keys;
  return (cross ? 2 : 1) * attention + 2 * d + 1.0 * feed_forward_matrices(c) * c.d_ff;
}

int longest_example(const RunConfig& config, const Split& train) {
  if (train.pairs())  // with <s> and </s>, of the longest of both sides
    return static_cast<int>(train.longest(Side::source) + train.longest(Side::target) + 3);
  const auto objective = make_objective(config);
  int longest = 1;
  Example e;
  const std::int64_t n = std::min<std::int64_t>(objective->count(train, 0), 20000);
  for (std::int64_t i = 0; i < n; ++i) {
    objective->example(train, 0, i, e);
    longest = std::max(longest, e.tokens());
  }
  return longest;
}

double id_bytes(const Split& split) {
  return static_cast<double>(split.source.size() * split.source.bytes_per_id() +
                             split.target.size() * split.target.bytes_per_id());
}

constexpr std::int64_t kMostCounted = 10'000'000;  // steps, where the schedule needs their number
constexpr std::int64_t kQuicklyCounted = 100'000;  // where only the words do
constexpr std::int64_t kLookedAt = 1000;           // where their number is known

bool needs_end(const RunConfig& config) {
  const StepOrEnd& decay = config.optimizer.decay_steps;
  return decays(config.optimizer) && (decay.at_end || decay == 0);
}

}  // namespace

MemoryPlan predict_memory(const Transformer& model, const RunConfig& config, int threads,
                          int longest, double ids, double held_out) {
  const ModelConfig& c = config.model;
  MemoryPlan plan;
  const double copies = kept_arrays(model.table, step_options(config)) + config.train.shards +
                        (config.train.precision == Precision::bfloat16);  // rounded weights
  plan.parameters = 4.0 * (static_cast<double>(model.table.size()) * copies +
                           1.0 * optimizer_workspace(model.table, config.optimizer) * threads);

  const double rows =
      std::max(longest, std::min(config.train.batch_tokens, micro_batch_tokens(config)));
  const auto rounded = [&](double of_rows) {  // the operands of one product, at most
    if (config.train.precision == Precision::float32) return 0.0;
    return std::max(of_rows * (c.d_model + std::max(3.0 * c.d_model, 1.0 * c.d_ff)),
                    1.0 * kLossRows * (c.d_model + model.target_vocab));
  };
  const bool both = model.has_encoder() && model.has_decoder();
  const double side = both ? rows / 2 : rows;
  const double keys = std::min<double>(side, both ? longest / 2.0 : longest);
  double floats = 2.0 * kLossRows * std::max(model.target_vocab, c.d_model);
  floats += side * c.encoder_layers * block_row(c, false, keys);
  floats += side * c.decoder_layers * block_row(c, both, keys);
  floats += rows * (8.0 * c.d_model +
                    1.0 * feed_forward_matrices(c) * c.d_ff);  // embeddings, gradients in flight
  floats += rounded(rows);
  const int workers = std::min(threads, config.train.shards);
  plan.activations = 4.0 * floats * workers;
  plan.data = ids;

  plan.record = film_memory(model.table);
  // Forward only: the room of one block.
  const double scored = std::max<double>({1.0 * longest, 1.0 * kForwardTokens, 2 * held_out});
  const double scored_side = both ? scored / 2 : scored;
  plan.scoring =
      4.0 * (config.data.has_validation() ? threads : 1) *
      (scored_side *
           block_row(
               c, both,
               std::min(scored_side, std::max<double>(longest, both ? held_out : 2 * held_out))) +
       scored * 3.0 * c.d_model + 1.0 * kLossRows * model.target_vocab + rounded(scored));
  return plan;
}

void check_memory(const MemoryPlan& plan, const std::string& held_out) {
  const double available = available_memory();
  if (plan.training() <= available) return;
  if (!held_out.empty() && plan.training() - plan.scoring <= available)
    throw Error(
        Exit::memory,
        fmt::format("validation needs about {} of memory for its longest sentence ({}), but "
                    "{} are available.",
                    format_bytes(plan.scoring), held_out, format_bytes(available)),
        "without that line, or fewer --threads; data.max_length drops such pairs from the "
        "training data alone");
  throw Error(
      Exit::memory,
      fmt::format("training needs about {} of memory (parameters, moments and gradients {}, "
                  "activations {}, validation {}), but {} are available.",
                  format_bytes(plan.training()), format_bytes(plan.parameters),
                  format_bytes(plan.activations), format_bytes(plan.scoring),
                  format_bytes(available)),
      "a smaller model or vocabulary (tokenizer.vocab_size, tokenizer.min_frequency), fewer "
      "train.shards, a smaller train.micro_batch_tokens, or fewer --threads");
}

Plan plan_of(const RunConfig& config, const Split& train) {
  const auto objective = make_objective(config);
  const std::int64_t epochs = config.train.max_epochs, end = config.train.max_steps;
  const std::int64_t counted = epochs == 0         ? kLookedAt
                               : needs_end(config) ? kMostCounted
                                                   : kQuicklyCounted;
  const std::int64_t most = end > 0 ? std::min(end, counted) : counted;
  const Batcher::Ahead ahead =
      Batcher(*objective, train, config)
          .ahead(epochs > 0 ? epochs : std::numeric_limits<std::int64_t>::max(), most);
  const auto steps = static_cast<double>(ahead.steps);
  Plan plan{0, static_cast<double>(ahead.tokens) / steps, ahead.equal, ahead.epochs / steps,
            static_cast<double>(ahead.without_labels) / steps};
  if (ahead.steps < most)
    plan.steps = ahead.steps;
  else if (epochs == 0 || most == end)
    plan.steps = end;
  return plan;
}

void settle_end(RunConfig& config, const Split& train, std::optional<Plan> plan) {
  const OptimizerConfig& o = config.optimizer;
  if (!needs_end(config)) return;
  if (!plan) plan = plan_of(config, train);
  if (plan->steps == 0)
    throw Error(Exit::usage,
                fmt::format("train.max_epochs {} are more than {} steps; optimizer.schedule {} "
                            "needs optimizer.decay_steps.",
                            config.train.max_epochs, format_count(kMostCounted), o.schedule),
                "--set optimizer.decay_steps=N, or train.max_steps");
  config.optimizer.decay_steps.step = plan->steps;
}

void plan_steps(PreparedRun& run) {
  run.plan = plan_of(run.config, run.data.train);
  settle_end(run.config, run.data.train, run.plan);
}

PreparedRun prepare_run(const RunConfig& config, const std::string& folder, Tokenizers tokenizers,
                        int threads, const Crew& crew) {
  Dataset data = load_dataset(config, folder, tokenizers);
  return prepare_run(config, std::move(data), std::move(tokenizers), threads, crew);
}

PreparedRun prepare_run(const RunConfig& config, Dataset data, Tokenizers tokenizers,
                        int asked_threads, const Crew& crew) {
  data.train.facts = {};  // they have been said
  share_run(crew, config, data, tokenizers, asked_threads);
  Transformer model(config.model, tokenizers.source().size(), tokenizers.target->size());
  const int threads = thread_count(asked_threads, config, crew.cores());
  const Split& valid = data.valid;
  const int longest = longest_example(config, data.train);
  const double ids = id_bytes(data.train) + id_bytes(valid);
  const auto held_out =
      static_cast<double>(std::max(valid.longest(Side::source), valid.longest(Side::target)));
  RunConfig own = config;
  own.train.shards = shards_held(config.train.shards, crew);
  MemoryPlan memory = predict_memory(model, own, threads, longest, ids, held_out);
  const bool by_held_out =
      memory.scoring > predict_memory(model, own, threads, longest, ids).scoring;
  check_memory(memory, by_held_out ? valid.longest_in_words() : "");
  if (config.data.has_validation())
    memory.yardsticks = yardsticks_memory(*make_objective(config), data.train, threads);
  prepare_arithmetic(config.train.arithmetic, threads);
  if (config.train.arithmetic == Arithmetic::portable)
    data.notes.push_back(fmt::format("arithmetic: portable, utf8proc {}", utf8proc_version()));
  if (config.train.precision == Precision::bfloat16) {
    data.notes.push_back("precision: bfloat16, " + bfloat16_info());
    crew.exchange().require_same("this bfloat16", bfloat16_info());
  }
  auto products = make_products(config.train.precision);
  crew.exchange().require_same("this OpenBLAS", blas_info());

  auto pool = std::make_unique<Pool>(threads, crew.cores());
  const Crew all = crew.with(*pool);
  PreparedRun run{
      config, std::move(tokenizers), std::move(data), std::move(model), memory, {}, std::move(pool),
      all,    std::move(products)};
  plan_steps(run);
  crew.meet();  // a process that could not prepare has ended the job
  return run;
}

Yardsticks measure_yardsticks(const PreparedRun& run) {
  if (!run.config.data.has_validation() || run.memory.yardsticks > available_memory()) return {};
  return measure_yardsticks(*make_objective(run.config), *run.tokenizers.target, run.data.train,
                            run.data.valid, *run.pool, [] { return stop_signal() != 0; });
}

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
