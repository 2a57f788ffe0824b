#include "train/training_run.h"

#include <fmt/core.h>

#include <cmath>

#include "base/folders.h"
#include "base/format.h"
#include "base/signals.h"
#include "math/bfloat16.h"
#include "math/blas.h"
#include "show/advice.h"
#include "step/schedule.h"
#include "store/origin.h"
#include "store/run_folder.h"
#include "train/prepared_run.h"

namespace heed {
namespace {

// Steps that would change nothing. (The last of a schedule is one of them.)
std::string useless_steps(const PreparedRun& run, std::int64_t done) {
  const OptimizerConfig& o = run.config.optimizer;
  const std::int64_t first = std::max(done + 1, decayed_at(o)), end = run.plan.steps;
  if (!decays(o) || (end > 0 && end <= decayed_at(o)) ||
      learning_rate(o, run.config.model.d_model, first) > 0)
    return "";
  return fmt::format(
      "{} have a learning rate of 0 and will change nothing: the schedule ends at step {}; {}, for "
      "example, or in a new run a later optimizer.decay_steps",
      end > 0 ? counted(format_count(end - first + 1), "step")
              : fmt::format("steps from {} on", first),
      decayed_at(o), low_rate_of(o));
}

void say_start(Log& log, const PreparedRun& run, std::int64_t done) {
  const RunConfig& c = run.config;
  const Dataset& data = run.data;
  for (const std::string& note : data.notes) log.info(note);
  for (const std::string& warning : data.warnings) log.warn(warning);
  const auto n = [](auto x) { return format_count(static_cast<std::int64_t>(x)); };
  std::string model = fmt::format(
      "model: {} parameters, {} encoder and {} decoder layers, d_model {}, vocabulary {}",
      n(run.model.table.size()), c.model.encoder_layers, c.model.decoder_layers, c.model.d_model,
      n(run.tokenizers.target->size()));
  if (kv_heads(c.model) != c.model.n_heads)
    model += fmt::format(", {} heads of queries share {} of keys and values", c.model.n_heads,
                         kv_heads(c.model));
  log.info(model);
  std::string text = fmt::format("data: {} training tokens",
                                 n(data.train.target.size() + data.train.source.size()));
  if (data.train.pairs()) text += fmt::format(" in {} pairs", n(data.train.sentences()));
  if (c.data.has_validation())
    text += fmt::format(", {} held out", n(data.valid.target.size() + data.valid.source.size()));
  if (!data.held_out_in.empty()) text += ": " + data.held_out_in;
  log.info(text);
  const std::string steps = run.plan.steps > 0 ? n(run.plan.steps) + " " : "";
  log.info(fmt::format("plan: {}steps of {}{} tokens, on {}, about {} of memory", steps,
                       run.plan.equal ? "" : "about ", n(std::round(run.plan.step_tokens)),
                       run.crew.in_words(), format_bytes(run.memory.total())));
  log.info("learning rate: " + schedule_in_words(c.optimizer, run.plan.steps));
  if (const std::string useless = useless_steps(run, done); !useless.empty()) log.warn(useless);
  const auto objective = make_objective(c);
  const int context = std::max(objective->longest(Side::source), objective->longest(Side::target));
  if (c.model.positions == Positions::learned && !data.train.pairs() &&
      static_cast<std::size_t>(context) > data.train.target.size() + 1)  // and <s>
    log.warn(
        fmt::format("the model reads up to {} tokens, and the training text has {}: the "
                    "positions beyond it are never trained",
                    n(context), n(data.train.target.size())));
  if (const std::string doubts = Validation{run, *objective}.doubts(); !doubts.empty())
    log.warn(doubts);
}

// "Cooperlake", for bfloat16 "Cooperlake, oneDNN 2.6.3, AVX512_BF16".
std::string kernels(const RunConfig& c) {
  if (c.train.precision == Precision::float32) return blas_core_type();
  const std::string rounded = bfloat16_info();  // and why, after a colon
  return blas_core_type() + ", " + rounded.substr(0, rounded.find(':'));
}

// The same bytes are promised on one type of processor only: OpenBLAS has other kernels for others.
// A change is logged, and recorded in metrics.jsonl: the type of the steps done is that of the last
// event that names one, else that of the start.
void say_core_type(const Beginning& b, const LoggedEvents& so_far, RunWriter& run, Log& log) {
  const std::string here = kernels(b.prepared.config);
  std::string before = b.origin.core_type;
  for (const RunEvent& event : so_far.events)
    if (event.core_type) before = *event.core_type;
  if (before.empty() || before == here) return;
  const std::string text = fmt::format(
      "the run was on a processor of type {} and continues on one of type {} (OpenBLAS's names): "
      "its last digits will differ from those of one that did not change",
      before, here);
  log.warn(text);
  run.append(kMetrics, line_of(RunEvent{b.steps_done(), "resume", text, here}));
}

// Puts run and trainer where the training begins. What the run has logged so far.
LoggedEvents begin(Beginning& b, Trainer& trainer, RunWriter& run, Log& log) {
  const std::int64_t done = b.steps_done();
  const bool resumed = b.from == run.path();
  if (resumed) {
    if (b.at) trainer.restore(*b.at);
    run.begin_writing(std::exchange(b.damaged, {}));
    for (const std::string& note : run.take_notes()) log.info(note);
  }
  if (resumed && b.at) {
    const TrainConfig& t = b.prepared.config.train;
    run.finish_save(done, {t.keep_last, t.keep_every}, fall_at_end(b.prepared.config.optimizer));
  }
  MetricsCut cut;
  if (!b.from.empty()) {
    cut = run.copy_lines(b.from, done);
    if (!resumed) cut.later = cut.damaged = 0;  // of another run, which keeps them
    say_cut(log, cut, done);
  }
  if (!b.at && cut.kept == 0)
    run.append(kMetrics,
               line_of(RunEvent{0, "start", b.origin.command, kernels(b.prepared.config)}));
  if (resumed) run.write_config(dump_config(b.prepared.config));
  LoggedEvents so_far = read_events(run.path());
  say_core_type(b, so_far, run, log);
  for (const RunEvent& event : b.events) run.append(kMetrics, line_of(event));
  if (b.weights) trainer.start_from(*b.weights);
  b.weights.reset();
  for (const Checkpoint& checkpoint : b.earlier) trainer.adopt(checkpoint);
  if (!resumed && b.at) trainer.adopt(*b.at);
  if (resumed)
    log.info(fmt::format("resuming at step {}", done));
  else if (b.at)
    log.info(fmt::format("branched from {} at step {}", b.origin.branched_from, done));
  return so_far;
}

}  // namespace

std::string reasons() {
  std::string all;
  for (const Ending& ending : kEndings) all += std::string(ending.reason) + ", ";
  return all + "already_done, diverged";
}

void require_room(const PreparedRun& prepared, const std::string& run, Log& log) {
  const double one = 4.0 * kept_arrays(prepared.model.table, step_options(prepared.config)) *
                     static_cast<double>(prepared.model.table.size());
  const double available = check_free_space(run, one);
  const std::int64_t kept = prepared.config.train.keep_last;
  if (const double all = one * static_cast<double>(kept + 3); kept > 0 && all > available)
    log.warn(fmt::format(
        "the disk may become full: the checkpoints need up to {} "
        "(train.keep_last {}, the best, one superseded, one being written), {} are free",
        format_bytes(all), kept, format_bytes(available)));
}

RunResult result_of(const RunWriter& run, const RunRequest& request, const State& state,
                    const std::string& reason, Exit exit) {
  return {exit, run.path().string(), reason, state, run.best(), seconds_now() - request.begin};
}

RunResult go(Beginning& beginning, const RunRequest& request, RunWriter& run, Log& log) {
  const PreparedRun& prepared = beginning.prepared;
  const std::string processor = processor_name();
  log.only_file(fmt::format("{} heed {}{}", date_and_time(), HEED_VERSION,
                            processor.empty() ? "" : " on " + processor));
  say_start(log, prepared, beginning.steps_done());
  Trainer trainer(prepared, &run);
  try {
    const LoggedEvents so_far = begin(beginning, trainer, run, log);
    run.put_in_place();
    trainer.listen(listeners({prepared, run, log, so_far, request.begin}));
    const Stop stop = trainer.run(request.stop_at);
    log.info("run: " + run.path().string());
    if (stop == Stop::asked || stop == Stop::signal || stop == Stop::time)
      log.info("to continue:\n  heed resume " + shell_word(run.path().string()));
    return result_of(run, request, trainer.state(), ending_of(stop).reason,
                     stop == Stop::signal ? exit_of_signal(stop_signal()) : Exit::ok);
  } catch (const Error& e) {
    if (e.exit() != Exit::diverged) throw;
    log.end_progress();
    throw FailedRun(e, result_of(run, request, trainer.state(), "diverged", e.exit()));
  }
}

RunResult go_in_new_folder(Beginning& beginning, const RunRequest& request, const std::string& run,
                           Log& log) {
  require_room(beginning.prepared, run, log);
  const auto text =
      beginning.text ? std::filesystem::path(beginning.text->path()) : beginning.stored_text;
  RunWriter writer = RunWriter::create(
      run, request.force,
      {origin_json(beginning.origin), dump_config(beginning.prepared.config), text});
  beginning.text.reset();
  return with_errors_in_log(writer, log, [&] { return go(beginning, request, writer, log); });
}

void say_cut(Log& log, const MetricsCut& cut, std::int64_t step) {
  if (cut.kept == 0 && step > 0)
    log.warn(
        fmt::format("metrics.jsonl has no line of the steps up to {}: it was emptied or "
                    "replaced; the checkpoint is whole, and training continues from it",
                    step));
  if (cut.later > 0)
    log.info(fmt::format("metrics.jsonl: dropped {} of later steps, which come again",
                         counted(std::to_string(cut.later), "line")));
  if (cut.damaged > 0)
    log.info(fmt::format("metrics.jsonl: dropped {}",
                         counted(std::to_string(cut.damaged), "torn line")));
}

}  // namespace heed
