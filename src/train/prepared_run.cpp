#include "train/prepared_run.h"

#include <fmt/core.h>
#include <utf8proc.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "base/cgroup.h"
#include "base/error.h"
#include "base/format.h"
#include "base/signals.h"
#include "base/std_names.h"
#include "data/batcher.h"
#include "data/objective.h"
#include "evaluate/scorer.h"
#include "evaluate/yardsticks.h"
#include "math/blas.h"
#include "show/film.h"
#include "step/optimizers.h"
#include "step/schedule.h"
#include "store/model.h"
#include "train/ranks.h"

namespace heed {
namespace {

// The example of most tokens; of a text, whose examples are alike, of the first ones.
Example longest_example(const Objective& objective, const Split& split) {
  const int64_t all = objective.count(split, Objective::kEvaluation);
  Example longest, next;
  for (int64_t i = 0; i < (split.pairs() ? all : min<int64_t>(all, 1000)); ++i) {
    objective.example(split, Objective::kEvaluation, i, next);
    if (next.tokens() > longest.tokens()) std::swap(longest, next);
  }
  return longest;
}

// The bytes that one thread needs for a pass over as many of this example as are within `tokens`,
// at least one; infinity if they are more than `most`. Without gradients forward only.
double pass_memory(const Transformer& model, const Products<float>& products,
                   const ParamVec<float>& values, ParamVec<float>* gradients,
                   const Example& example, int tokens, double most) try {
  Batch batch;
  int rows = 0;
  do {
    batch.add(example);
    rows += example.tokens();
  } while (rows + example.tokens() <= tokens);
  Workspace workspace{size_t(most)};
  TransformerSaved<float> saved;
  Pass<float> pass{.values = values,
                   .workspace = workspace,
                   .gradients = gradients,
                   .forward_only = gradients == nullptr,
                   .products = &products};
  if (gradients)
    train_micro_batch(model, pass, batch, {}, saved);
  else
    loss(pass, model.output, In<float>(model.forward(pass, batch, saved)), batch.labels);
  return double(workspace.bytes());
} catch (const std::length_error&) {
  return INFINITY;
} catch (const bad_alloc&) {
  return INFINITY;
}

// Error (memory) if the training does not fit into the memory that was `available`.
void measure_passes(MemoryPlan& plan, double available, const Transformer& model,
                    const RunConfig& config, const Dataset& data, const Products<float>& products,
                    int threads) {
  const auto objective = make_objective(config);
  ParamVec<float> values(model.table.size()), gradients(model.table.size());
  const int rows = min(config.train.batch_tokens, micro_batch_tokens(config));
  plan.activations =
      min(threads, config.train.shards) * pass_memory(model, products, values, &gradients,
                                                      longest_example(*objective, data.train), rows,
                                                      available - plan.training());
  check_memory(plan, available);
  const bool validates = data.valid.target.size() > 0;
  plan.scoring = (validates ? threads : 1) *
                 pass_memory(model, products, values, nullptr,
                             longest_example(*objective, validates ? data.valid : data.train),
                             kForwardTokens, available - plan.training());
  check_memory(plan, available);
}

double id_bytes(const Split& split) {
  return double(split.source.size() * split.source.bytes_per_id() +
                split.target.size() * split.target.bytes_per_id());
}

constexpr int64_t kMostCounted = 10'000'000;  // steps, where the schedule needs their number
constexpr int64_t kQuicklyCounted = 100'000;  // where only the words do
constexpr int64_t kLookedAt = 1000;           // where their number is known

bool needs_end(const RunConfig& config) {
  const Fall fall = fall_of(config.optimizer);
  return fall.to >= 0 && (fall.follows_end || config.optimizer.decay_steps == 0);
}

}  // namespace

MemoryPlan counted_memory(const Transformer& model, const RunConfig& config, int threads) {
  const double copies = kept_arrays(model.table, step_options(config)) + config.train.shards +
                        (config.train.precision != Precision::float32);  // rounded weights
  return {.parameters = 4.0 * (double(model.table.size()) * copies +
                               1.0 * optimizer_workspace(model.table, config.optimizer) * threads),
          .record = film_memory(model.table)};
}

void check_memory(const MemoryPlan& plan, double available) {
  const double all = plan.training();
  if (all <= available) return;
  throw Error(
      Exit::memory,
      fmt::format("training needs {} of memory, {} of it for parameters, moments and gradients, "
                  "but {} are available.",
                  std::isinf(all) ? "more" : "about " + format_bytes(all),
                  format_bytes(plan.parameters), format_bytes(available)),
      "a smaller model or vocabulary (tokenizer.vocab_size, tokenizer.min_frequency), fewer "
      "train.shards, a smaller train.micro_batch_tokens, or fewer --threads; data.max_length drops "
      "long pairs of the training data, but none that are held out");
}

Plan plan_of(const RunConfig& config, const Split& train) {
  const auto objective = make_objective(config);
  const int64_t epochs = config.train.max_epochs, end = config.train.max_steps;
  const int64_t counted = epochs == 0         ? kLookedAt
                          : needs_end(config) ? kMostCounted
                                              : kQuicklyCounted;
  const int64_t most = end > 0 ? min(end, counted) : counted;
  const Batcher::Ahead ahead =
      Batcher(*objective, train, config)
          .ahead(epochs > 0 ? epochs : numeric_limits<int64_t>::max(), most);
  const auto steps = double(ahead.steps);
  Plan plan{0, double(ahead.tokens) / steps, ahead.epochs / steps};
  if (ahead.steps < most)
    plan.steps = ahead.steps;
  else if (epochs == 0 || most == end)
    plan.steps = end;
  return plan;
}

void settle_end(RunConfig& config, const Split& train, optional<Plan> plan) {
  const OptimizerConfig& o = config.optimizer;
  if (!needs_end(config)) return;
  if (!plan) plan = plan_of(config, train);
  if (plan->steps == 0)
    throw usage_error(
        "train.max_epochs {} are more than {} steps; optimizer.schedule {} "
        "needs optimizer.decay_steps.",
        config.train.max_epochs, format_count(kMostCounted), o.schedule)
        .hint("--set optimizer.decay_steps=N, or train.max_steps");
  config.optimizer.decay_steps.step = plan->steps;
}

void plan_steps(PreparedRun& run) {
  run.plan = plan_of(run.config, run.data.train);
  settle_end(run.config, run.data.train, run.plan);
}

PreparedRun prepare_run(const RunConfig& config, const string& folder, Tokenizers tokenizers,
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
  RunConfig own = config;
  // A rank has its share of them, and the others' partial sums (step/gradients.h).
  if (!crew.alone()) own.train.shards = config.train.shards / crew.ranks() + 2;
  MemoryPlan memory = counted_memory(model, own, threads);
  memory.data = id_bytes(data.train) + id_bytes(data.valid);
  const double available = available_memory();
  check_memory(memory, available);
  if (config.data.has_validation())
    memory.yardsticks = yardsticks_memory(*make_objective(config), data.train, threads);
  prepare_arithmetic(config.train.arithmetic, threads);
  if (config.train.arithmetic == Arithmetic::portable)
    data.details.push_back(fmt::format("arithmetic: portable, utf8proc {}", utf8proc_version()));
  auto products = make_products(config.train.precision);
  if (const string info = products->info(); !info.empty()) {
    data.details.push_back("precision: bfloat16, " + info);
    crew.exchange().require_same("this bfloat16", info);
  }
  crew.exchange().require_same("this OpenBLAS", blas_info());

  auto pool = make_unique<Pool>(threads, crew.cores());
  measure_passes(memory, available, model, own, data, *products, threads);
  const Crew all(*pool, crew.exchange());
  PreparedRun run{
      config, std::move(tokenizers), std::move(data), std::move(model), memory, {}, std::move(pool),
      all,    std::move(products)};
  plan_steps(run);
  if (!config.train.prompt.empty())
    run.prompt = given_prompt(config, run.tokenizers, *make_objective(config));
  crew.sum(0);  // a process that could not prepare has ended the job
  return run;
}

Yardsticks measure_yardsticks(const PreparedRun& run) {
  if (!run.config.data.has_validation() || run.memory.yardsticks > available_memory()) return {};
  return measure_yardsticks(*make_objective(run.config), *run.tokenizers.target, run.data.train,
                            run.data.valid, *run.pool, [] { return stop_signal() != 0; });
}

}  // namespace heed
