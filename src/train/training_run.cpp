#include "train/training_run.h"

#include <fmt/core.h>

#include <cmath>

#include "base/folders.h"
#include "base/format.h"
#include "base/signals.h"
#include "step/schedule.h"
#include "store/best.h"
#include "store/origin.h"
#include "train/schedule_in_words.h"

namespace heed {
namespace {

// In the order of Stop, then the others.
const std::vector<std::string> kReasons = {"finished", "early_stopping", "stop_at", "signal",
                                           "time",     "already_done",   "diverged"};

void say_start(Log& log, const PreparedRun& run) {
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
  log.info(text);
  const std::string steps = run.plan.steps > 0 ? n(run.plan.steps) + " " : "";
  log.info(fmt::format("plan: {}steps of {}{} tokens, on {}, about {} of memory", steps,
                       run.plan.equal ? "" : "about ", n(std::round(run.plan.step_tokens)),
                       run.crew.in_words(), format_bytes(run.memory.total())));
  log.info("learning rate: " + schedule_in_words(c.optimizer, run.plan.steps));
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

}  // namespace

std::string reasons() {
  return joined(kReasons);
}

void require_room(const PreparedRun& prepared, const std::string& run, Log& log) {
  const double one = 4.0 * kept_arrays(prepared.model.table, step_options(prepared.config)) *
                     static_cast<double>(prepared.model.table.size());
  const double available = check_free_space(run, one);
  const std::int64_t kept = prepared.config.train.keep_last;
  if (const double all = one * static_cast<double>(kept + 2); kept > 0 && all > available)
    log.warn(
        fmt::format("the disk may become full: the checkpoints need up to {} "
                    "(train.keep_last {}, the best, and one while it is written), {} are free",
                    format_bytes(all), kept, format_bytes(available)));
}

void keep_fall(RunWriter& run, const RunConfig& config) {
  if (is_of_a_text(run.path())) run.keep(full_rate_until(config.optimizer));
}

RunResult result_of(const RunWriter& run, const RunRequest& request, const State& state,
                    const std::string& reason, Exit exit) {
  return {exit, run.path().string(), reason, state, run.best(), seconds_now() - request.begin};
}

RunResult train_to_the_end(const PreparedRun& prepared, const RunRequest& request, RunWriter& run,
                           Log& log, const std::function<void(Trainer&)>& set_up) {
  const std::string processor = processor_name();
  log.only_file(fmt::format("{} heed {}{}", date_and_time(), HEED_VERSION,
                            processor.empty() ? "" : " on " + processor));
  say_start(log, prepared);
  keep_fall(run, prepared.config);
  Trainer trainer(prepared, &run);
  try {
    set_up(trainer);
    trainer.listen(listeners({prepared, run, log, request.begin}));
    const Stop stop = trainer.run(request.stop_at);
    log.info("run: " + run.path().string());
    if (stop == Stop::asked || stop == Stop::signal || stop == Stop::time)
      log.info("to continue:\n  heed resume " + shell_word(run.path().string()));
    return result_of(run, request, trainer.state(), kReasons[static_cast<int>(stop)],
                     stop == Stop::signal ? exit_of_signal(stop_signal()) : Exit::ok);
  } catch (const Error& e) {
    if (e.exit() != Exit::diverged) throw;
    log.end_progress();
    throw FailedRun(e, result_of(run, request, trainer.state(), kReasons.back(), e.exit()));
  }
}

void say_cut(Log& log, const MetricsCut& cut, std::int64_t step) {
  if (cut.kept == 0 && step > 0)
    log.warn(
        fmt::format("metrics.jsonl has no line of the steps up to {}: it was emptied or "
                    "replaced; the checkpoint is whole, and training continues from it",
                    step));
  if (cut.later + cut.damaged > 0)
    log.info(fmt::format("metrics.jsonl: dropped {} lines of later steps and {} torn ones",
                         cut.later, cut.damaged));
}

}  // namespace heed
