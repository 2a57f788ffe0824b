#include "train/training_run.h"

#include <fmt/core.h>

#include <cmath>
#include <set>

#include "base/fields.h"
#include "base/files.h"
#include "base/format.h"
#include "base/signals.h"
#include "base/std_names.h"
#include "math/blas.h"
#include "show/film.h"
#include "step/schedule.h"
#include "store/huggingface.h"
#include "store/run.h"
#include "store/run_folder.h"
#include "train/prepared_run.h"

namespace heed {
namespace {

// Where the schedule turns: "learning rate (wsd): 8e-05 at step 1, 0.008 at step 100, 0.008 at step
// 1600, 0 at step 2000", for a run that ends at step `end` (0: no planned end).
string rates_in_words(const RunConfig& c, int64_t end) {
  const Fall fall = fall_of(c.optimizer);
  vector<string> rates;
  for (const int64_t step : set<int64_t>{1, c.optimizer.warmup_steps, fall.from, fall.to, end})
    if (step > 0 && (end == 0 || step <= end))
      rates.push_back(fmt::format("{:.3g} at step {}",
                                  learning_rate(c.optimizer, c.model.d_model, step), step));
  return fmt::format(
      "learning rate ({}): {}{}", c.optimizer.schedule, joined(rates),
      end > 0 && end < c.optimizer.warmup_steps ? ", before optimizer.warmup_steps are over" : "");
}

void say_start(Log& log, const PreparedRun& run, int64_t done) {
  const RunConfig& c = run.config;
  const Dataset& data = run.data;
  const auto say = run.described ? &Log::detail : &Log::info;
  for (const string& detail : data.details) log.detail(detail);
  for (const string& note : data.notes) log.info(note);
  for (const string& warning : data.warnings) log.warn(warning);
  const auto n = [](auto x) { return format_count(int64_t(x)); };
  vector<string> layers;
  for (const auto& [half, count] :
       {pair{"encoder", c.model.encoder_layers}, {"decoder", c.model.decoder_layers}})
    if (count > 0) layers.push_back(counted(to_string(count), string(half) + " layer"));
  (log.*say)(fmt::format("model: {} weights, {}, d_model {}, vocabulary {}",
                         n(run.model.table.size()), listed(layers), c.model.d_model,
                         n(run.tokenizers.target->size())));
  log.info(opens_as(c));
  const auto tokens = [&](const Split& split, const string& what) {
    const string all = n(split.target.size() + split.source.size()) + " " + what;
    return all + (split.pairs() ? fmt::format(" in {} pairs", n(split.sentences())) : "");
  };
  (log.*say)("data: " + tokens(data.train, "training tokens") +
             (c.data.has_validation() ? ", " + tokens(data.valid, "held out") : ""));
  const string steps = run.plan.steps > 0 ? n(run.plan.steps) + " " : "";
  (log.*say)(fmt::format("plan: {}steps of about {} tokens, on {}, about {} of memory", steps,
                         n(std::round(run.plan.step_tokens)), run.crew.in_words(),
                         format_bytes(run.memory.total())));
  log.detail(rates_in_words(c, run.plan.steps));
  if (const auto useless = useless_steps(run, done)) log.warn(useless->what());
}

// The first line of metrics.jsonl: the command, and the processor that the run began on. The same
// bytes are promised on one type of processor only: OpenBLAS has other kernels for others. A change
// is logged, and recorded in metrics.jsonl: the type of the steps done is that of the last event
// that names one.
void record_processor(const PreparedRun& prepared, int64_t done, RunWriter& run, Log& log) {
  const string here = kernels(prepared);
  const auto events = read_events(run.path()).events;
  if (done == 0 && events.empty())
    run.append(kMetrics, text_of(RunEvent{0, "start", read_origin(run.path()).command, here}));
  string before = here;
  for (const RunEvent& event : events) before = event.core_type.value_or(before);
  if (before == here) return;
  const string text = fmt::format(
      "the run was on a processor of type {} and continues on one of type {} (OpenBLAS's names): "
      "its last digits will differ",
      before, here);
  log.warn(text);
  run.append(kMetrics, text_of(RunEvent{done, "resume", text, here}));
}

}  // namespace

string kernels(const PreparedRun& run) {
  const string info = run.products->info();
  return blas_core_type() + (info.empty() ? "" : ", " + info.substr(0, info.find(':')));
}

optional<Error> useless_steps(const PreparedRun& run, int64_t done) {
  const OptimizerConfig& o = run.config.optimizer;
  const Fall fall = fall_of(o);
  const int64_t first = max(done + 1, fall.to), end = run.plan.steps;
  if (fall.to < 0 || (end > 0 && end <= fall.to) ||
      learning_rate(o, run.config.model.d_model, first) > 0)
    return nullopt;
  return usage_error(
             "the schedule ends at step {}: steps from {} on have a learning rate of 0 and change "
             "nothing.",
             fall.to, first)
      .hint(fmt::format("{}--set optimizer.min_learning_rate={:g}",
                        fall.from < 0 ? "" : "--set optimizer.decay_steps=end; or, for example, ",
                        o.learning_rate / 20));
}

void require_room(const PreparedRun& prepared, const string& run) {
  check_free_space(run, 4.0 * kept_arrays(prepared.model.table, step_options(prepared.config)) *
                            double(prepared.model.table.size()));
}

RunResult result_of(const RunWriter& run, const RunRequest& request, const State& state,
                    const string& reason, Exit exit) {
  return {exit, run.path().string(), reason, state, run.best(), seconds_now() - request.begin};
}

RunResult go(const PreparedRun& prepared, const RunRequest& request, RunWriter& run, Log& log,
             const function<void(Trainer&)>& begin) {
  log.open_file((run.path() / kTrainLog).string());
  Film film(prepared.config, prepared.model, prepared.tokenizers, prepared.data, prepared.prompt);
  Trainer trainer(prepared, &run);
  try {
    const string processor = processor_name();
    log.only_file(fmt::format("{} heed {}{}", date_and_time(), HEED_VERSION,
                              processor.empty() ? "" : " on " + processor));
    for (const string& note : run.take_notes()) log.info(note);
    begin(trainer);
    const int64_t done = trainer.state().step;
    say_start(log, prepared, done);
    record_processor(prepared, done, run, log);
    run.put_in_place();
    log.brief(fmt::format("run: {0}; Ctrl-C stops and saves, heed resume {0} continues",
                          shell_word(run.path().string())));
    trainer.listen(listeners({prepared, run, log, film, request.begin}));
    const Stop stop = trainer.run(request.stop_at);
    log.detail("run: " + run.path().string());
    if (stop == Stop::asked || stop == Stop::signal || stop == Stop::time)
      log.detail("to continue:\n  heed resume " + shell_word(run.path().string()));
    return result_of(run, request, trainer.state(), ending_of(stop).reason,
                     stop == Stop::signal ? exit_of_signal(stop_signal()) : Exit::ok);
  } catch (const Error& e) {
    for (const string& note : run.take_notes()) log.warn(note);  // lines lost since a save
    if (e.exit() != Exit::diverged) throw;
    throw FailedRun(e, result_of(run, request, trainer.state(), "diverged", e.exit()));
  }
}

}  // namespace heed
