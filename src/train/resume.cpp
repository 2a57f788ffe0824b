// The stored run is read and prepared first, without writing; then it goes on in its own folder.
#include "train/resume.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "base/folders.h"
#include "base/format.h"
#include "show/advice.h"
#include "step/schedule.h"
#include "store/model.h"
#include "store/run_folder.h"
#include "train/stored_run.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

// Without a checkpoint a run starts again, which needs the weights that it began with.
void refuse_lost_weights(const StoredRun& run) {
  const Origin& origin = run.origin;
  const std::string& of = origin.branched_from.empty() ? origin.init_from : origin.branched_from;
  if (of.empty()) return;
  throw Error(
      Exit::store,
      fmt::format("the run {} should begin with the weights of {}, but was stopped before its "
                  "first checkpoint.",
                  quoted_path(run.folder), quoted_path(of)),
      "again, with --force where it makes the run anew: " + origin.command);
}

// Of a run that has got a later end. `branches`: its earlier checkpoints may be used.
Advice advice_beyond(const StoredRun& run, bool branches = true) {
  std::vector<State> states = states_of(run.folder);
  if (states.empty()) states.emplace_back();
  if (!branches) states = {states.back()};
  return advise(
      {.folder = run.folder, .config = run.asked, .origin = run.origin, .states = states});
}

std::string ways_beyond(const StoredRun& run, bool branches = true) {
  const Advice advice = advice_beyond(run, branches);
  return advice.anew + "\n  at a low rate: " + advice.low_rate;
}

// A schedule that does not follow the run's end ends where it was planned to, even if the run has
// got a later end, `end`. Says so; Error (usage) if steps would change nothing.
void check_schedule(const StoredRun& run, const RunConfig& config, std::int64_t end, Log& log) {
  const OptimizerConfig& o = config.optimizer;
  const std::int64_t to = fall_of(o).to;
  if (to < 0 || end <= to) return;
  if (learning_rate(o, config.model.d_model, end) == 0)
    throw Error(Exit::usage,
                fmt::format("the schedule ends at step {}: beyond it the learning rate is 0, so "
                            "training would change nothing.",
                            to),
                ways_beyond(run));
  log.info(fmt::format(
      "the schedule ends before the run, at optimizer.{} {}; for a rate that falls anew: {}",
      to == o.decay_steps ? "decay_steps" : "warmup_steps", to, advice_beyond(run).anew));
}

// The first step done that would have had another rate with the end of `config`; 0: none. (The
// highest and the lowest rate may change from now on.) Error (usage) if not the end, but another
// key gives it that. Damaged steps are done, too.
std::int64_t first_step_of_other_end(const StoredRun& run, RunConfig config) {
  const OptimizerConfig& was = run.trained.optimizer;
  config.optimizer.learning_rate = was.learning_rate;
  config.optimizer.min_learning_rate = was.min_learning_rate;
  const std::vector<std::int64_t> saved = list_steps(run.folder);
  const std::int64_t other =
      first_other_rate(run.trained, config, saved.empty() ? 0 : saved.back());
  if (other == 0) return 0;
  const bool by_end = fall_of(was).follows_end || fall_of(config.optimizer).follows_end;
  for (const KeyChange& change : changed_keys(run.trained, config))
    if (change.on_resume == OnResume::if_rates_stay &&
        !(by_end && change.key == "optimizer.decay_steps"))
      refuse_change(run, change, "; or --branch DIR, if their learning rates stay");
  return other;
}

// Error (usage) if a branch of the run is still to be finished, or ends at `end` or later. `from`:
// the checkpoint from which another one would go on.
void refuse_second_branch(const fs::path& run, std::int64_t end, const std::string& from) {
  for (const std::string& name : names_of_runs(folder_of(run))) {
    const fs::path branch = run.parent_path() / name;
    if (!is_branch_of(branch, run)) continue;
    const TrainConfig config = config_of_run(branch).train;
    const std::vector<State> states = states_of(branch);
    if (states.empty()) continue;
    const bool over = end_of(config, states.back()) != Stop::none;
    if (over && states.back().step < end) continue;
    throw Error(
        Exit::usage,
        fmt::format("{} has the branch {}, which {}.", quoted_path(run), quoted_path(branch),
                    over ? fmt::format("ends at step {}", states.back().step) : "is not finished"),
        fmt::format("heed resume {}{}; or, for another one, --branch DIR --checkpoint {}",
                    shell_word(branch.string()), over ? " --more N" : "", from));
  }
}

// Of a run of which steps from `other` on are done with another rate than `config` gives them: goes
// on from before them, in a branch.
RunResult branch_before(std::int64_t other, StoredRun& run, const RunConfig& config,
                        const RunRequest& request, Log& log) {
  const std::int64_t end = plan_of(config, run.data.train).steps;
  NewestCheckpoint before = newest_checkpoint(run.folder, other - 1);
  say_skipped(before, log);
  if (!before.checkpoint)
    throw Error(Exit::usage,
                fmt::format("the rate is to fall at the new end, step {}, but step {} is done with "
                            "another rate, and no whole checkpoint from before it is left.",
                            end, other),
                ways_beyond(run, false));
  const std::string from = step_folder_name(before.checkpoint->state().step);
  refuse_second_branch(run.folder, end, from);
  run.checkpoint = std::move(before.checkpoint);
  run.trained = checkpoint_config(*run.checkpoint);
  const std::string branch = next_name(run.folder).string();
  log.info(
      fmt::format("{} is a branch of {} from step {}: with the end at step {} the steps "
                  "after it have another rate; {} stays as it is",
                  branch, run.folder.string(), run.steps_done(), end, run.folder.string()));
  return branched(run, config, request, branch, log);
}

// The run's files as its last save left them, or was about to. `goes_on`: it trains from there. Has
// metrics.jsonl any lines?
bool tidy(const StoredRun& stored, const TrainConfig& config, bool goes_on, RunWriter& run,
          Log& log) {
  run.begin_writing(stored.damaged);
  for (const std::string& note : run.take_notes()) log.info(note);
  const OptimizerConfig& asked = stored.asked.optimizer;
  const Fall fall = fall_of(asked);
  const bool known = !fall.follows_end || asked.decay_steps > 0;  // what is to be spared
  const std::int64_t done = stored.steps_done();
  if (stored.checkpoint)
    run.finish_save(done, {known ? config.keep_last : 0, config.keep_every}, fall.spared());
  const MetricsCut cut = run.copy_lines(run.path(), done, !goes_on);
  if (cut.kept == 0 && done > 0)
    log.warn(
        fmt::format("metrics.jsonl has no line of the steps up to {}: it was emptied or "
                    "replaced; the checkpoint is whole, and training continues from it",
                    done));
  if (const std::int64_t lines = cut.later + cut.damaged; lines > 0)
    log.info(fmt::format("metrics.jsonl: dropped {}, torn or of later steps, which come again",
                         counted(std::to_string(lines), "line")));
  return cut.kept > 0;
}

// `other_end`: one was asked for, so it says how to train on even where that is not advisable.
RunResult has_nothing_to_do(const std::string& why, const StoredRun& stored,
                            const RunConfig& config, const RunRequest& request, bool other_end,
                            RunWriter& run, Log& log) {
  log.open_file((run.path() / kTrainLog).string());
  tidy(stored, config.train, false, run, log);
  const Advice advice = advice_on(run.path());
  log.info(why + (advice.text.empty() ? "" : ": " + advice.text));
  const bool shown = other_end || advice.text.empty();
  if (const std::string& on = shown ? advice.way_on : advice.command; !on.empty())
    log.info("  " + on);
  if (names_other_files(stored, config))  // commands that read the data look there
    run.write_config(dump_config(config));
  return result_of(run, request, stored.checkpoint->state(), "already_done");
}

// Goes on in the run's own folder.
RunResult resumed(StoredRun& stored, const RunConfig& config, const RunRequest& request,
                  bool other_end, RunWriter& run, Log& log) {
  const PreparedRun prepared = prepare_stored_run(stored, config, request, log);
  if (other_end) check_schedule(stored, prepared.config, prepared.plan.steps, log);
  const std::int64_t before = stored.asked.train.max_steps;
  if (config.train.max_steps > 0 && config.train.max_steps < before)
    log.warn(fmt::format("the run now ends before step {}; --stop-at keeps that plan", before));
  require_room(prepared, request.folder, log);
  return go(prepared, request, run, log, [&](Trainer& trainer) {
    if (stored.checkpoint) trainer.restore(*stored.checkpoint);
    const bool lines = tidy(stored, prepared.config.train, true, run, log);
    if (!stored.checkpoint && !lines) append_start(run, stored.origin.command, prepared.config);
    run.write_config(dump_config(prepared.config));
    log.info(fmt::format("resuming at step {}", stored.steps_done()));
  });
}

// The keys that say where a run and the fall of its rate end.
constexpr const char* kEndKeys[] = {"train.max_steps", "train.max_epochs", "optimizer.decay_steps"};

bool asks_for_end(const ResumeRequest& request) {
  return request.max_steps + request.more > 0 || request.minutes > 0 ||
         std::ranges::any_of(kEndKeys,
                             [&](const char* key) { return request.run.given.contains(key); });
}

}  // namespace

RunResult resume_run(const ResumeRequest& request, Log& log) {
  if (!request.branch.empty()) return branch_run(request, log);
  const RunRequest& as = request.run;
  std::optional<RunWriter> run = RunWriter::open(as.folder);
  const bool other_end = asks_for_end(request);
  if (!other_end) log.open_file((run->path() / kTrainLog).string());  // else it may get a branch
  StoredRun stored = read_stored_run(run->path(), newest_checkpoint(run->path()), log);
  RunConfig config = changed_config(stored, as.given);
  if (const std::string why = nothing_to_do(stored, config.train, as.stop_at);
      !other_end && !why.empty()) {
    if (names_other_files(stored, config)) load_data(stored, config, log);
    return has_nothing_to_do(why, stored, config, as, other_end, *run, log);
  }
  load_data(stored, config, log);
  config = changed_config(stored, with(as.given, new_end(request, stored)));
  if (!stored.checkpoint) {
    refuse_lost_weights(stored);
    log.info("no checkpoint yet: starting at step 0");
  }
  settle_end(config, stored.data.train);
  settle_end(stored.trained, stored.data.train);
  const std::int64_t other = first_step_of_other_end(stored, config);
  if (const std::string why = nothing_to_do(stored, config.train, other > 0 ? 0 : as.stop_at);
      !why.empty())
    return has_nothing_to_do(why, stored, config, as, other_end, *run, log);
  if (other == 0) return resumed(stored, config, as, other_end, *run, log);
  run.reset();  // it stays as it is, its log too
  return branch_before(other, stored, config, as, log);
}

}  // namespace heed
