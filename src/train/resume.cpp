#include "train/resume.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/files.h"
#include "base/format.h"
#include "base/signals.h"
#include "train/schedule.h"
#include "train/stored_run.h"

namespace heed {
namespace {

// Without a checkpoint a run starts again, which needs the weights it was given.
void refuse_lost_weights(const RunWriter& run, const Origin& origin) {
  const std::string& of = origin.branched_from.empty() ? origin.init_from : origin.branched_from;
  if (of.empty()) return;
  throw Error(
      Exit::store,
      fmt::format("the run {} should begin with the weights of {}, but was stopped before its "
                  "first checkpoint.",
                  quoted_path(run.path()), quoted_path(of)),
      "train it again, with --force: " + origin.command);
}

// What to know before training goes on after `done` steps, or "". A schedule ends where it was
// planned to, also if the run now ends later.
std::string end_of_schedule(const RunConfig& config, std::int64_t planned, std::int64_t done,
                            const std::string& run) {
  const OptimizerConfig& o = config.optimizer;
  if (learning_rate(o, config.model.d_model, done + 1) == 0)
    return "the schedule has ended, and with it the learning rate is 0: add, for example, --set "
           "optimizer.min_learning_rate=1e-4";
  if (!decays(o) || config.train.max_steps <= std::max(planned, o.decay_steps)) return "";
  std::string text =
      fmt::format("the schedule ends before the run, at optimizer.decay_steps {}", o.decay_steps);
  if (o.schedule == ScheduleType::wsd && done <= full_rate_until(o))
    text += fmt::format("; heed resume {} --branch DIR --max-steps {} decays to its own end",
                        shell_word(run), config.train.max_steps);
  return text;
}

RunResult resume_opened(const ResumeRequest& request, RunWriter& run, Log& log) {
  const StoredRun stored = read_stored_run(request, run.path(), newest_checkpoint(run.path()), log);
  const std::optional<Checkpoint>& checkpoint = stored.checkpoint;
  const std::int64_t done = stored.steps_done();
  const RunConfig& config = stored.config;
  const std::string ended =
      end_of_schedule(config, stored.asked.train.max_steps, done, request.run);
  if (!stored.nothing_to_do.empty()) {
    run.finish_save(checkpoint->state(), config.train.keep_last);
    say_cut(log, run.cut_metrics(done), done);
    log.info(stored.nothing_to_do + (ended.empty() ? "" : "; " + ended));
    return {Exit::ok, run.path().string(), "already_done", checkpoint->state(),
            seconds_now() - request.begin};
  }
  if (!checkpoint) {
    refuse_lost_weights(run, stored.origin);
    log.info("no checkpoint yet: starting at step 0");
  }
  for (const std::string& change : stored.changes) log.info("changed: " + change);
  const std::int64_t planned = stored.asked.train.max_steps;
  if (config.train.max_steps > 0 && config.train.max_steps < planned)
    log.warn(fmt::format("the run now ends before step {}; --stop-at keeps that plan", planned));
  if (!ended.empty()) config.optimizer.min_learning_rate > 0 ? log.info(ended) : log.warn(ended);

  const PreparedRun prepared = prepare_stored_run(stored, request.threads);
  watch_signals();

  return train_to_the_end(prepared, request, run, log, [&](Trainer& trainer) {
    if (checkpoint) {
      trainer.restore(*checkpoint);
      run.finish_save(checkpoint->state(), config.train.keep_last);
    }
    const MetricsCut cut = run.cut_metrics(done);
    say_cut(log, cut, done);
    if (!checkpoint && cut.kept == 0)  // killed before it was written
      run.append_metrics(event_metrics(0, "start", stored.origin.command, stored.origin.core_type));
    run.write_config(dump_config(config));
    say_core_type(stored.origin.core_type, done, run, log);
    log.info(fmt::format("resuming at step {}", done));
  });
}

}  // namespace

RunResult resume_run(const ResumeRequest& request, Log& log) {
  if (!request.branch.empty()) return branch_run(request, log);
  RunWriter run = RunWriter::open(request.run);
  return with_errors_in_log(run, log, [&] { return resume_opened(request, run, log); });
}

}  // namespace heed
