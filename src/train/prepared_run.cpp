#include "train/prepared_run.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/format.h"
#include "data/batcher.h"
#include "data/objective.h"
#include "evaluate/yardsticks.h"
#include "math/blas.h"
#include "step/schedule.h"
#include "store/trained_model.h"
#include "train/ranks.h"

namespace heed {
namespace {

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
  Plan plan{0, static_cast<double>(ahead.tokens) / steps, ahead.equal, ahead.epochs / steps};
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
  prepare_blas(threads);

  auto pool = std::make_unique<Pool>(threads, crew.cores());
  const Crew all = crew.with(*pool);
  PreparedRun run{
      config, std::move(tokenizers), std::move(data), std::move(model), memory, {}, std::move(pool),
      all};
  plan_steps(run);
  crew.meet();  // a process that could not prepare has ended the job
  return run;
}

}  // namespace heed
