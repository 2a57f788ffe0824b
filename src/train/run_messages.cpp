#include "train/run_messages.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/clock.h"
#include "base/format.h"
#include "data/batcher.h"
#include "math/blas.h"
#include "nn/flops.h"

namespace heed {
namespace {

int longest_example(const PreparedRun& run) {
  const auto objective = make_objective(run.config);
  int longest = 1;
  Example e;
  const std::int64_t n = std::min<std::int64_t>(objective->count(run.data.train, 0), 20000);
  for (std::int64_t i = 0; i < n; ++i) {
    objective->example(run.data.train, 0, i, e);
    longest = std::max(longest, e.tokens());
  }
  return longest;
}

// Seconds of one step, from its arithmetic and a quick look at how fast products are here.
double predicted_step_seconds(const PreparedRun& run) {
  const RunConfig& config = run.config;
  StepBatch batch;
  Batcher(*make_objective(config), run.data.train, config).fill(1, {}, batch);
  double flops = 0;
  for (std::size_t s = 0; s < batch.shards.size(); ++s)
    for (int i = 0; i < batch.used[s]; ++i) flops += training_flops(run.model, batch.shards[s][i]);
  constexpr int n = 384;
  std::vector<float> a(n * n, 0.5f), b(n * n, 0.5f), c(n * n);
  double best = 1e9;
  for (int i = 0; i < 4; ++i) {
    const double begin = seconds_now();
    gemm<float>(1.0f, as_is(Mat<const float>{a.data(), n, n}),
                transposed(Mat<const float>{b.data(), n, n}), 0.0f, Mat<float>{c.data(), n, n});
    best = std::min(best, seconds_now() - begin);
  }
  const double peak =
      2.0 * n * n * n / best * std::min({run.threads, config.train.shards, available_cores()});
  constexpr double kShare = 0.65;  // of that speed a step usually reaches
  return flops / (peak * kShare);
}

}  // namespace

MemoryPlan plan_memory(const PreparedRun& run) {
  const Split &train = run.data.train, &valid = run.data.valid;
  const double ids = static_cast<double>(
      (train.source.size() + valid.source.size()) * train.source.bytes_per_id() +
      (train.target.size() + valid.target.size()) * train.target.bytes_per_id());
  const MemoryPlan plan =
      predict_memory(run.model, run.config, run.threads, longest_example(run), ids);
  check_memory(plan);
  return plan;
}

void say_start(Log& log, const PreparedRun& run, const MemoryPlan& memory, std::int64_t done) {
  const RunConfig& c = run.config;
  const Transformer& model = run.model;
  const Dataset& data = run.data;
  for (const std::string& note : data.notes) log.info(note);
  const auto n = [](std::size_t x) { return format_count(static_cast<std::int64_t>(x)); };
  log.info(fmt::format(
      "model: {} parameters, {} encoder and {} decoder layers, d_model {}, vocabulary {}",
      n(model.table.size()), c.model.encoder_layers, c.model.decoder_layers, c.model.d_model,
      n(static_cast<std::size_t>(run.tokenizers.target->size()))));
  std::string text = fmt::format("data: {} training tokens",
                                 n(data.train.target.size() + data.train.source.size()));
  if (data.train.pairs()) text += fmt::format(" in {} pairs", n(data.train.sentences()));
  if (c.data.has_validation())
    text += fmt::format(", {} held out", n(data.valid.target.size() + data.valid.source.size()));
  log.info(text);
  std::string steps, duration;
  if (c.train.max_steps > 0) {
    const double left = static_cast<double>(c.train.max_steps - done);
    steps = n(c.train.max_steps) + " ";
    duration = ", about " + format_duration(left * predicted_step_seconds(run));
  }
  log.info(fmt::format("plan: {}steps of {} tokens{} on {} thread{}, about {} of memory", steps,
                       n(c.train.batch_tokens), duration, run.threads, run.threads == 1 ? "" : "s",
                       format_bytes(memory.total())));
}

void say_end(Log& log, Stop stop, const Trainer& trainer, const std::string& run, double seconds) {
  const State& s = trainer.state();
  std::string text;
  switch (stop) {
    case Stop::finished:
      text = fmt::format("finished at step {}", s.step);
      break;
    case Stop::early:
      text = fmt::format("stopped early at step {}: {} validations without a new best", s.step,
                         s.stalled);
      break;
    case Stop::time:
      text = fmt::format("time is up at step {}", s.step);
      break;
    case Stop::asked:
    case Stop::signal:
      text = fmt::format("stopped and saved at step {}", s.step);
      break;
  }
  text += " after " + format_duration(seconds);
  if (std::isfinite(s.best_loss))
    text += trainer.config().train.select_by == SelectBy::bleu
                ? fmt::format("; best validation BLEU {:.2f} @ {}", s.best_metric, s.best_step)
                : fmt::format("; best validation loss {:.4f} @ {}", s.best_loss, s.best_step);
  log.info(text);
  log.info("run: " + run);
  if (stop == Stop::asked || stop == Stop::signal || stop == Stop::time)
    log.info("go on: heed resume " + shell_word(run));
}

const char* reason_name(Stop stop) {
  switch (stop) {
    case Stop::finished:
      return "finished";
    case Stop::early:
      return "early_stopping";
    case Stop::asked:
      return "stop_at";
    case Stop::signal:
      return "signal";
    case Stop::time:
      return "time";
  }
  return "";
}

void say_cut(Log& log, const MetricsCut& cut, std::int64_t step) {
  if (cut.kept == 0 && step > 0)
    log.warn(
        fmt::format("metrics.jsonl has no line of the steps up to {}: it was emptied or "
                    "replaced; the checkpoint is whole, and training goes on from it",
                    step));
  if (cut.later + cut.damaged > 0)
    log.info(fmt::format("metrics.jsonl: dropped {} lines of later steps and {} torn ones",
                         cut.later, cut.damaged));
}

void say_better_than_best(Log& log, const State& state) {
  log.warn(
      fmt::format("step {} is better than the best that counts, step {}, which commands take: "
                  "--checkpoint last takes this one",
                  state.step, state.best_step));
}

void say_profile(Log& log, const Profile& profile) {
  double total = 0;
  for (std::uint64_t ns : profile.ns) total += static_cast<double>(ns);
  for (std::size_t i = 0; i < profile.ns.size(); ++i)
    if (profile.ns[i] > 0)
      log.info(fmt::format("profile: {} {:.2f} s, {:.1f} %", kWorkNames[i],
                           static_cast<double>(profile.ns[i]) * 1e-9,
                           100.0 * static_cast<double>(profile.ns[i]) / total));
}

}  // namespace heed
