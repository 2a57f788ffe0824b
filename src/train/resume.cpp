// The stored run is read and prepared first, without writing; then it goes on in its own folder.
#include "train/resume.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

#include "base/folders.h"
#include "base/format.h"
#include "show/advice.h"
#include "step/schedule.h"
#include "store/run_folder.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

// The steps that take so long at the speed so far, validations included, less those that come again
// because the rate fell in them; and a note for the log.
std::pair<std::int64_t, std::string> steps_at_speed(const ResumeRequest& request,
                                                    const StoredRun& run) {
  const std::vector<TrainEvent> lines = read_events(run.folder).train;
  if (lines.empty() || !(lines.back().minutes > 0))
    throw Error(Exit::usage, "--minutes counts with the speed of the run, which has logged none.",
                "--more N, in steps");
  OptimizerConfig planned = run.asked.optimizer;
  planned.decay_steps.step = run.asked.train.max_steps;
  const std::int64_t fall = fall_at_end(planned),
                     again = fall > 0 ? std::max<std::int64_t>(0, run.steps_done() - fall) : 0,
                     steps = std::llround(request.minutes / lines.back().minutes *
                                          static_cast<double>(lines.back().step));
  return {std::max<std::int64_t>(1, steps - again),
          fmt::format("--minutes {:g}: {} steps at the speed so far{}{}", request.minutes,
                      format_count(steps),
                      again > 0 ? fmt::format(", {} to train again included", again) : "",
                      request.run.threads > 0 ? " (other --threads take another time)" : "")};
}

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
      (origin.branched_from.empty() || origin.command.find("--branch") != std::string::npos
           ? "train it again, with --force: "
           : "again: ") +
          origin.command);
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
  const TrainConfig &was = run.asked.train, &is = config.train;
  const auto rate = [&](std::int64_t step) { return learning_rate(o, config.model.d_model, step); };
  const bool other_end = was.max_steps != is.max_steps || was.max_epochs != is.max_epochs;
  if (!other_end || !decays(o) || end <= decayed_at(o)) return;
  if (rate(end) == 0)
    throw Error(Exit::usage,
                fmt::format("the schedule ends at step {}: beyond it the learning rate is 0, so "
                            "training would change nothing.",
                            decayed_at(o)),
                ways_beyond(run));
  log.info(fmt::format(
      "the schedule ends before the run, at optimizer.{} {}; for a rate that falls anew: {}",
      decayed_at(o) == o.decay_steps ? "decay_steps" : "warmup_steps", decayed_at(o),
      advice_beyond(run).anew));
}

// Error (usage) if `config`, which has the planned end, gives steps done another rate. (The highest
// and the lowest rate may change from now on.)
void check_rates(const StoredRun& run, RunConfig config) {
  config.optimizer.learning_rate = run.trained.optimizer.learning_rate;
  config.optimizer.min_learning_rate = run.trained.optimizer.min_learning_rate;
  if (first_other_rate(run.trained, config, run.steps_done()) == 0) return;
  for (const KeyChange& change : changed_keys(run.trained, config))
    if (change.on_resume == OnResume::if_rates_stay)
      refuse_change(run, in_words(change), "; or --branch DIR, if their learning rates stay");
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
    const bool over = end_of(config, states.back()) != End::none;
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
RunResult branch_before(const StoredRun& run, std::int64_t other, const RunConfig& config,
                        const RunRequest& request, StoredData data, Log& log) {
  const std::int64_t end = plan_of(config, data.data.train).steps;
  NewestCheckpoint before = newest_checkpoint(run.folder, other - 1);
  if (!before.checkpoint) {
    say_skipped(before, log);
    throw Error(Exit::usage,
                fmt::format("the rate is to fall at the new end, step {}, but step {} is done with "
                            "another rate, and no whole checkpoint from before it is left.",
                            end, other),
                ways_beyond(run, false));
  }
  const std::string from = step_folder_name(before.checkpoint->state().step);
  refuse_second_branch(run.folder, end, from);
  const std::string branch = next_name(run.folder).string();
  log.info(fmt::format(
      "{} is a branch of {} from step {}: with the end at step {} the steps "
      "after it have another rate; {} stays as it is",
      branch, run.folder.string(), before.checkpoint->state().step, end, run.folder.string()));
  return branch_off(request, branch, stem_at(run.folder.string(), std::move(before), log), config,
                    std::move(data), log);
}

// `asked_for_more`: for another end, so it says how to train on even where that is not advisable.
RunResult has_nothing_to_do(const std::string& why, StoredRun& stored, const RunConfig& config,
                            const RunRequest& request, bool asked_for_more, RunWriter& run,
                            Log& log) {
  const State& state = stored.checkpoint->state();
  const OptimizerConfig& asked = stored.asked.optimizer;
  const bool known = !asked.decay_steps.at_end || asked.decay_steps > 0;  // what is to be spared
  run.finish_save(state.step, {known ? config.train.keep_last : 0, config.train.keep_every},
                  fall_at_end(asked));
  say_cut(log, run.cut_lines(state.step), state.step);
  const Advice advice = advice_on(run.path());
  log.info(why + (advice.text.empty() ? "" : ": " + advice.text));
  const bool shown = asked_for_more || advice.text.empty();
  if (const std::string& on = shown ? advice.way_on : advice.command; !on.empty())
    log.info("  " + on);
  if (names_other_files(stored, config))  // commands that read the data look there
    run.write_config(dump_config(config));
  return result_of(run, request, state, "already_done");
}

// Finds the step at which the rate ends to fall, if that follows the run's end: that of another
// config, if both have the same end.
void settle_end_as(RunConfig& config, const RunConfig& settled, const Split& train) {
  const TrainConfig &a = config.train, &b = settled.train;
  if (a.max_steps != b.max_steps || a.max_epochs != b.max_epochs)
    settle_end(config, train);
  else if (config.optimizer.decay_steps.at_end)
    config.optimizer.decay_steps.step = settled.optimizer.decay_steps.step;
}

// The keys that say where a run and the fall of its rate end.
constexpr const char* kEndKeys[] = {"train.max_steps", "train.max_epochs", "optimizer.decay_steps"};

bool asks_for_end(const ResumeRequest& request) {
  return request.max_steps + request.more > 0 || request.minutes > 0 ||
         std::ranges::any_of(kEndKeys,
                             [&](const char* key) { return request.run.given.contains(key); });
}

// `logs`: errors already go to the run's log.
RunResult resume_opened(const ResumeRequest& request, std::optional<RunWriter>& run, bool logs,
                        Log& log) {
  const auto in_run = [&](auto&& work) {
    run->begin_writing();
    for (const std::string& note : run->take_notes()) log.info(note);
    return logs ? work() : with_errors_in_log(*run, log, work);
  };
  NewestCheckpoint newest = newest_checkpoint(run->path());
  std::vector<DamagedCheckpoint> damaged = newest.damaged;
  StoredRun stored = read_stored_run(run->path(), std::move(newest), log);
  // Damaged steps are done, too: a later end must not rewind them either.
  const std::int64_t stop_at = request.run.stop_at;
  const std::vector<std::int64_t> saved = list_steps(run->path());
  const std::int64_t done = saved.empty() ? 0 : saved.back();
  GivenKeys but_for_end = request.run.given;
  for (const char* key : kEndKeys) but_for_end.erase(key);
  RunConfig planned = changed_config(stored, but_for_end);
  TrainConfig last = changed_config(stored, request.run.given).train;
  if (request.max_steps + request.more > 0 || request.minutes > 0) {
    last.max_steps = request.max_steps;
    last.max_epochs = 0;
  }
  const bool other_end =
      last.max_steps != planned.train.max_steps || last.max_epochs != planned.train.max_epochs;
  const auto has_nothing = [&](std::int64_t stop) -> std::optional<RunResult> {
    const std::string why =
        stored.checkpoint ? nothing_to_do(last, stored.checkpoint->state(), stop) : "";
    if (why.empty()) return std::nullopt;
    if (names_other_files(stored, planned)) load_data(stored, planned, log);
    return in_run(
        [&] { return has_nothing_to_do(why, stored, planned, request.run, other_end, *run, log); });
  };
  // With another end it may be a branch from an earlier step.
  if (auto result = has_nothing(other_end ? 0 : stop_at)) return *result;

  StoredData data = load_data(stored, planned, log);
  const NewEnd end = new_end(request, stored, data.data);
  RunConfig config = changed_config(stored, with(request.run.given, end.keys));
  if (!stored.checkpoint) {
    refuse_lost_weights(stored);
    log.info("no checkpoint yet: starting at step 0");
  }
  settle_end(config, data.data.train);
  for (RunConfig* c : {&stored.trained, &planned}) settle_end_as(*c, config, data.data.train);
  check_rates(stored, planned);
  if (const std::int64_t other = first_other_rate(planned, config, done); other > 0) {
    if (!planned.optimizer.decay_steps.at_end && !config.optimizer.decay_steps.at_end)
      check_rates(stored, config);
    for (const std::string& note : end.notes) data.data.notes.push_back(note);
    run.reset();
    return branch_before(stored, other, config, request.run, std::move(data), log);
  }
  for (const std::string& note : end.notes) log.info(note);
  if (auto result = has_nothing(stop_at)) return *result;
  PreparedRun prepared = prepare_stored_run(stored, config, std::move(data), request.run, log);
  check_schedule(stored, prepared.config, prepared.plan.steps, log);
  const std::int64_t before = stored.asked.train.max_steps;
  if (config.train.max_steps > 0 && config.train.max_steps < before)
    log.warn(fmt::format("the run now ends before step {}; --stop-at keeps that plan", before));
  require_room(prepared, request.run.folder, log);
  Beginning beginning{.prepared = std::move(prepared),
                      .origin = stored.origin,
                      .from = run->path(),
                      .at = std::move(stored.checkpoint),
                      .damaged = std::move(damaged)};
  return in_run([&] { return go(beginning, request.run, *run, log); });
}

}  // namespace

NewEnd new_end(const ResumeRequest& request, const StoredRun& run, const Dataset& data) {
  const char* option = request.max_steps > 0 ? "--max-steps"
                       : request.more > 0    ? "--more"
                       : request.minutes > 0 ? "--minutes"
                                             : nullptr;
  NewEnd added;
  if (option == nullptr) return added;
  const TrainConfig& asked = run.asked.train;
  std::int64_t end = request.max_steps;
  if (end == 0) {
    std::int64_t more = request.more;
    if (more == 0) std::tie(more, added.notes.emplace_back()) = steps_at_speed(request, run);
    const std::int64_t planned = asked.max_steps > 0 && asked.max_epochs > 0
                                     ? plan_of(run.asked, data.train).steps
                                     : asked.max_steps;
    if (planned > run.steps_done())
      added.notes.push_back(
          fmt::format("{} counts from the planned end, step {}", option, planned));
    end = std::max(planned, run.steps_done()) + more;
  }
  GivenKeys& keys = added.keys;
  keys.values.train.max_steps = end;
  keys.keys["train.max_steps"] = option;
  const bool replaced = request.branch.empty() && !request.run.given.contains("train.max_epochs");
  if (replaced && asked.max_epochs > 0) keys.keys["train.max_epochs"] = option;
  return added;
}

RunResult resume_run(const ResumeRequest& request, Log& log) {
  if (!request.branch.empty()) return branch_run(request, log);
  std::optional<RunWriter> run = RunWriter::open(request.run.folder);
  // A run that gets a branch stays as it is, its log too.
  if (asks_for_end(request)) return resume_opened(request, run, false, log);
  return with_errors_in_log(*run, log, [&] { return resume_opened(request, run, true, log); });
}

}  // namespace heed
