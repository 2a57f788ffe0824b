#include "train/run_messages.h"

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
  log.info("model: " + n(model.table.size()) + " parameters, " +
           std::to_string(c.model.encoder_layers) + " encoder and " +
           std::to_string(c.model.decoder_layers) + " decoder layers, d_model " +
           std::to_string(c.model.d_model) + ", vocabulary " +
           n(static_cast<std::size_t>(run.tokenizers.target->size())));
  std::string text =
      "data: " + n(data.train.target.size() + data.train.source.size()) + " training tokens";
  if (data.train.pairs()) text += " in " + n(data.train.sentences()) + " pairs";
  if (c.data.has_validation())
    text += ", " + n(data.valid.target.size() + data.valid.source.size()) + " held out";
  log.info(text);
  const std::string on_threads =
      " on " + std::to_string(run.threads) + (run.threads == 1 ? " thread" : " threads");
  text = "plan: ";
  if (c.train.max_steps > 0) {
    const double left = static_cast<double>(c.train.max_steps - done);
    text += n(c.train.max_steps) + " steps of " + n(c.train.batch_tokens) + " tokens, about " +
            format_duration(left * predicted_step_seconds(run)) + on_threads;
  } else {
    text += "steps of " + n(c.train.batch_tokens) + " tokens" + on_threads;
  }
  log.info(text + ", about " + format_bytes(memory.total()) + " of memory");
}

void say_end(Log& log, Stop stop, const Trainer& trainer, const std::string& run, double seconds) {
  const State& s = trainer.state();
  const std::string step = std::to_string(s.step);
  std::string text;
  switch (stop) {
    case Stop::finished:
      text = "finished at step " + step;
      break;
    case Stop::early:
      text = "stopped early at step " + step + ": " + std::to_string(s.stalled) +
             " validations without a new best";
      break;
    case Stop::time:
      text = "time is up at step " + step;
      break;
    case Stop::asked:
    case Stop::signal:
      text = "stopped and saved at step " + step;
      break;
  }
  text += " after " + format_duration(seconds);
  if (std::isfinite(s.best_loss))
    text += (trainer.config().train.select_by == SelectBy::bleu
                 ? "; best validation BLEU " + format_fixed(s.best_metric, 2)
                 : "; best validation loss " + format_fixed(s.best_loss, 4)) +
            " @ " + std::to_string(s.best_step);
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
    log.warn("metrics.jsonl has no line of the steps up to " + std::to_string(step) +
             ": it was emptied or replaced; the checkpoint is whole, and training goes on from it");
  if (cut.later + cut.damaged > 0)
    log.info("metrics.jsonl: dropped " + std::to_string(cut.later) + " lines of later steps and " +
             std::to_string(cut.damaged) + " torn ones");
}

void say_better_than_best(Log& log, const State& state) {
  log.warn("step " + std::to_string(state.step) + " is better than the best that counts, step " +
           std::to_string(state.best_step) +
           ", which commands take: --checkpoint last takes this one");
}

void say_profile(Log& log, const Profile& profile) {
  double total = 0;
  for (std::uint64_t ns : profile.ns) total += static_cast<double>(ns);
  for (std::size_t i = 0; i < profile.ns.size(); ++i)
    if (profile.ns[i] > 0)
      log.info("profile: " + std::string(kWorkNames[i]) + " " +
               format_fixed(static_cast<double>(profile.ns[i]) * 1e-9, 2) + " s, " +
               format_fixed(100.0 * static_cast<double>(profile.ns[i]) / total, 1) + " %");
}

}  // namespace heed
