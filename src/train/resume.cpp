// The stored run is read and prepared first, without writing; then it goes on in its own folder, or
// in that of a branch.
#include "train/resume.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "base/fields.h"
#include "base/files.h"
#include "base/format.h"
#include "base/signals.h"
#include "base/std_names.h"
#include "show/advice.h"
#include "step/schedule.h"
#include "store/model.h"
#include "store/run_folder.h"

namespace heed {
namespace {

// The first of the steps done that has another learning rate in one of two configs, else 0.
int64_t first_other_rate(const RunConfig& was, const RunConfig& is, int64_t done) {
  for (int64_t step = 1; step <= done; ++step)
    if (learning_rate(was.optimizer, was.model.d_model, step) !=
        learning_rate(is.optimizer, was.model.d_model, step))
      return step;
  return 0;
}

// --- the config with which it goes on

// Those that the steps done know of.
vector<KeyChange> changes_of(const RunConfig& trained, const RunConfig& config) {
  vector<KeyChange> changes = changed_keys(trained, config);
  erase_if(changes, [](const KeyChange& change) {
    return ranges::any_of(kOfThisProcess, [&](string key) { return change.key == "train." + key; });
  });
  return changes;
}

// `written` with these changes. Error (usage) on a key that would have changed the steps done.
RunConfig changed_config(const StoredRun& run, const GivenKeys& changes) {
  RunConfig config = resolved(changed(run.written, changes));
  for (const KeyChange& change : changes_of(run.trained, config))
    if (change.on_resume == OnResume::refused)
      throw usage_error(
          "a resumed run cannot change {}: the steps already done would have been different.",
          in_words(change))
          .hint("heed train with --init-from " + shell_word(run.folder.string()));
  return config;
}

// Has another path of the data been given?
bool names_other_files(const StoredRun& run, const RunConfig& config) {
  return ranges::any_of(changed_keys(run.asked, config),
                        [](const KeyChange& c) { return c.key.starts_with("data."); });
}

// The steps that take so long at the speed so far, validations included.
int64_t steps_at_speed(double minutes, StoredRun& run) {
  const vector<TrainEvent> lines = read_events(run.folder).train;
  if (lines.empty() || !(lines.back().minutes > 0))
    throw usage_error("--minutes counts with the speed of the run, which has logged none.")
        .hint("--more N, in steps");
  const int64_t steps = llround(minutes / lines.back().minutes * double(lines.back().step));
  run.data.notes.push_back(
      fmt::format("--minutes {:g}: {} steps at the speed so far", minutes, format_count(steps)));
  return max<int64_t>(1, steps);
}

// The end that --max-steps, --more or --minutes asks for, as keys of the config; none if none does.
// How it is counted becomes a note of the run's data.
GivenKeys new_end(const ResumeRequest& request, StoredRun& run) {
  const char* option = request.max_steps > 0 ? "--max-steps"
                       : request.more > 0    ? "--more"
                       : request.minutes > 0 ? "--minutes"
                                             : nullptr;
  GivenKeys keys;
  if (option == nullptr) return keys;
  const TrainConfig& asked = run.asked.train;
  int64_t end = request.max_steps;
  if (end == 0) {
    const int64_t more = request.more > 0 ? request.more : steps_at_speed(request.minutes, run),
                  planned = asked.max_steps > 0 && asked.max_epochs > 0
                                ? plan_of(run.asked, run.data.train).steps
                                : asked.max_steps;
    end = max(planned, run.steps_done()) + more;
  }
  keys.values.train.max_steps = end;
  keys.keys["train.max_steps"] = option;
  if (asked.max_epochs > 0 && !request.given.contains("train.max_epochs"))
    keys.keys["train.max_epochs"] = option;
  return keys;
}

// Why a run with this config has nothing to do from there, else "".
string nothing_to_do(const StoredRun& run, const TrainConfig& t, int64_t stop_at) {
  if (!run.checkpoint) return "";
  const State& s = run.checkpoint->state;
  const Stop end = end_of(t, s, stop_at);
  if (end == Stop::none) return "";
  const string where = t.max_steps > 0 && s.step >= t.max_steps
                           ? fmt::format("at step {} of {} (train.max_steps)", s.step, t.max_steps)
                       : end == Stop::early
                           ? fmt::format("stopped early at step {}", s.step)
                           : fmt::format("at step {} ({})", s.step, ending_of(end).words);
  return "already " + where + "; nothing to do";
}

// Logs what changes, and prepares the run.
PreparedRun prepare_stored_run(StoredRun& run, const RunConfig& config, const RunRequest& request,
                               Log& log) {
  for (const KeyChange& change : changes_of(run.trained, config))
    log.info("changed: " + in_words(change));
  PreparedRun prepared = prepare_run(config, std::move(run.data), std::move(run.tokenizers),
                                     request.threads, request.crew);
  watch_signals();
  return prepared;
}

// --- a branch

// Is `inner` in `outer`, or the same folder?
bool contains(const string& outer, const string& inner) {
  const fs::path path = fs::relative(fs::absolute(inner), outer, ignored());
  return !path.empty() && *path.begin() != "..";
}

// The checkpoint that a branch begins at. A copy under another name may be of steps whose lines are
// gone.
NewestCheckpoint beginning_of(const string& run, const string& checkpoint) {
  if (checkpoint.empty()) return newest_checkpoint(run);
  Checkpoint chosen = open_checkpoint(run, checkpoint);
  if (!chosen.has_training ||
      !fs::equivalent(chosen.folder, step_folder(run, chosen.state.step), ignored()))
    throw usage_error(
        "{} cannot be continued: it is not a step of {} with its optimizer "
        "state.",
        chosen.folder.string(), quoted_path(run))
        .hint("--checkpoint step-N");
  return {std::move(chosen), {}};
}

[[noreturn]] void refuse_branch(const StoredRun& stem, const string& why, const string& hint) {
  throw usage_error("the branch begins at step {} of {}, and {}", stem.steps_done(),
                    quoted_path(stem.folder), why)
      .hint(hint);
}

// Error (usage) unless `is`, the branch's config, could reproduce the steps done.
void check_steps_done(const StoredRun& stem, const RunConfig& is) {
  if (const double clip = stem.trained.optimizer.clip_norm; is.optimizer.clip_norm != clip)
    refuse_branch(stem, "its steps were clipped otherwise than its config says.",
                  fmt::format("--set optimizer.clip_norm={}", clip));
  if (const auto step = first_other_rate(stem.trained, is, stem.steps_done()); step > 0)
    refuse_branch(stem,
                  fmt::format("its config would give step {} another learning rate: no single "
                              "config could reproduce such a run.",
                              step),
                  fmt::format("a later --max-steps, a smaller optimizer.decay_fraction, or "
                              "--checkpoint with one from before step {}; learning_rate and "
                              "warmup_steps stay (and optimizer.schedule, which is to be wsd)",
                              step));
}

// The first weights, if the run keeps them, and its best up to there.
vector<Checkpoint> earlier_ones(const StoredRun& stem, Log& log) {
  const State& state = stem.checkpoint->state;
  const State best = best_of(states_of(stem.folder, state.step)).value_or(state);
  vector<Checkpoint> earlier;
  for (const int64_t step : set<int64_t>{0, best.step}) {
    try {
      const fs::path folder = step_folder(stem.folder, step);
      if (step != state.step && path_exists(folder)) earlier.push_back(Checkpoint::open(folder));
    } catch (const Unreadable&) {
      throw;
    } catch (const Error& e) {
      log.warn(fmt::format("the branch begins without step {}: {}", step, e.what()));
    }
  }
  return earlier;
}

// Goes on from where `stem` stands in the new folder `branch`.
RunResult branched(StoredRun& stem, const RunConfig& config, const RunRequest& request,
                   const string& branch, Log& log) {
  const int64_t done = stem.steps_done();
  if (const string why = nothing_to_do(stem, config.train, request.stop_at); !why.empty())
    refuse_branch(stem, "it is " + why,
                  "a later --max-steps or --stop-at, or --checkpoint with an earlier step");
  settle_end(stem.trained, stem.data.train);
  const PreparedRun prepared = prepare_stored_run(stem, config, request, log);
  check_steps_done(stem, prepared.config);

  const fs::path from = with_name(stem.folder);
  Origin origin = stem.origin;
  fs::path text;
  if (!origin.folder.empty()) origin.folder = fs::absolute(origin.folder).lexically_normal();
  if (fs::equivalent(origin.folder, from, ignored()) && fs::exists(from / kRunText)) {
    origin.folder = ".";  // heed train -: the run keeps its text
    text = from / kRunText;
  }
  origin.hash = prepared.data.hash;
  origin.branched_from = from.string();
  origin.branched_at = done;
  origin.command = request.command;
  for (const auto& [key, place] : request.given.keys) origin.given.push_back(key);

  const vector<Checkpoint> earlier = earlier_ones(stem, log);
  require_room(prepared, branch);
  RunWriter run = RunWriter::create(branch, request.force,
                                    {origin_json(origin), dump_config(prepared.config), text});
  return go(prepared, request, run, log, [&](Trainer& trainer) {
    run.copy_lines(from, done);
    const string event = fmt::format("branched from {} at step {}", origin.branched_from, done);
    run.append(kMetrics, text_of(RunEvent{done, "branch", event}));
    for (const Checkpoint& checkpoint : earlier) trainer.adopt(checkpoint);
    trainer.adopt(*stem.checkpoint);
    log.detail(event);
  });
}

// --branch: the stem is read and prepared without a change to it, then the branch is made.
RunResult branch_run(const ResumeRequest& request, Log& log) {
  const string& folder = request.folder;
  if (contains(folder, request.branch) || contains(request.branch, folder))
    throw usage_error("the branch {} and the run {} overlap; a branch leaves its run as it is.",
                      quoted_path(request.branch), quoted_path(folder))
        .hint("--branch with a folder beside it");
  RunWriter::require_own_checkpoints(folder);
  RunWriter::require_free(request.branch, request.force);
  NewestCheckpoint at = beginning_of(folder, request.checkpoint);
  if (!at.checkpoint && at.damaged.empty())
    throw store_error("{} has no checkpoint yet.", quoted_path(folder))
        .hint("wait until it saves (train.save_every)");
  StoredRun stem = read_stored_run(folder, std::move(at), log);
  GivenKeys changes = request.given;
  // The schedule ends with the branch, unless --set says where.
  if (!changes.contains("optimizer.decay_steps")) changes.reset.insert("optimizer.decay_steps");
  load_data(stem, changed_config(stem, changes), log);
  const RunConfig config = changed_config(stem, with(changes, new_end(request, stem)));
  return branched(stem, config, request, request.branch, log);
}

// --- another rate of steps that are done, mostly by a later end: a branch of its own

// The first step done that would have had another rate with `config`; 0: none. (The highest and the
// lowest rate may change from now on.) Damaged steps are done, too.
int64_t first_step_of_other_rate(const StoredRun& run, RunConfig config) {
  config.optimizer.learning_rate = run.trained.optimizer.learning_rate;
  config.optimizer.min_learning_rate = run.trained.optimizer.min_learning_rate;
  const vector<int64_t> saved = list_steps(run.folder);
  return first_other_rate(run.trained, config, saved.empty() ? 0 : saved.back());
}

// Error (usage) if a branch of the run is still to be finished, or ends at `end` (0: unknown) or
// later. `from`: the checkpoint from which another one would go on.
void refuse_second_branch(const fs::path& run, int64_t end, const string& from) {
  for (const string& name : names_of_runs(folder_of(run))) {
    const fs::path branch = run.parent_path() / name;
    if (!is_branch_of(branch, run)) continue;
    const TrainConfig config = config_of_run(branch).train;
    const vector<State> states = states_of(branch);
    if (states.empty()) continue;
    const State& last = states.back();
    const bool over = end_of(config, last) != Stop::none;
    if (over && (end == 0 || last.step < end)) continue;
    throw usage_error("{} has the branch {}, which {}.", quoted_path(run), quoted_path(branch),
                      over ? fmt::format("ends at step {}", last.step) : "is not finished")
        .hint(fmt::format("heed resume {}{}; or, for another one, --branch DIR --checkpoint {}",
                          shell_word(branch.string()), over ? " --more N" : "", from));
  }
}

// Of a run of which steps from `other` on are done with another rate than `config` gives them: goes
// on from before them, in a branch.
RunResult branch_before(int64_t other, StoredRun& run, const RunConfig& config,
                        const RunRequest& request, Log& log) {
  const int64_t end = plan_of(config, run.data.train).steps;
  NewestCheckpoint before = newest_checkpoint(run.folder, other - 1);
  say_skipped(before, log);
  vector<string> changes;
  for (const KeyChange& change : changed_keys(run.trained, config))
    if (change.on_resume == OnResume::if_rates_stay) changes.push_back(in_words(change));
  if (!before.checkpoint)
    throw usage_error(
        "with {} step {}, which is done, would have another rate, and no whole "
        "checkpoint from before it is left.",
        listed(changes), other)
        .hint(fmt::format("--set optimizer.decay_steps={}, where the rate has fallen; --branch "
                          "DIR; or heed train with --init-from {}",
                          fall_of(run.trained.optimizer).to, shell_word(run.folder.string())));
  const string from = step_folder_name(before.checkpoint->state.step);
  refuse_second_branch(run.folder, end, from);
  run.checkpoint = std::move(before.checkpoint);
  run.trained = checkpoint_config(*run.checkpoint);
  const string branch = next_name(run.folder).string();
  log.info(
      fmt::format("{0} is a branch of {1} from step {2}: with {3} the steps after it have another "
                  "rate; {1} stays as it is",
                  branch, run.folder.string(), run.steps_done(), listed(changes)));
  return branched(run, config, request, branch, log);
}

// --- the run's own folder

// The run's files as its last save left them, or was about to. `goes_on`: it trains from there.
void tidy(const StoredRun& stored, const TrainConfig& config, bool goes_on, RunWriter& run,
          Log& log) {
  run.begin_writing(stored.damaged);
  for (const string& note : run.take_notes()) log.info(note);
  const OptimizerConfig& asked = stored.asked.optimizer;
  const Fall fall = fall_of(asked);
  const bool known = !fall.follows_end || asked.decay_steps > 0;  // what is to be spared
  const int64_t done = stored.steps_done();
  if (stored.checkpoint)
    run.finish_save(done, {known ? config.keep_last : 0, config.keep_every, fall.spared()});
  run.copy_lines(run.path(), done, !goes_on);
}

RunResult has_nothing_to_do(const string& why, const StoredRun& stored, const RunConfig& config,
                            const RunRequest& request, RunWriter& run, Log& log) {
  log.open_file((run.path() / kTrainLog).string());
  tidy(stored, config.train, false, run, log);
  const Advice advice = advice_on(run.path());
  log.info(why + (advice.text.empty() ? "" : ": " + advice.text));
  if (const string& on = advice.text.empty() ? advice.way_on : advice.command; !on.empty())
    log.info("  " + on);
  if (names_other_files(stored, config))  // commands that read the data look there
    run.write_config(dump_config(config));
  return result_of(run, request, stored.checkpoint->state, "already_done");
}

// Goes on in the run's own folder. `other_end`: it was asked for one.
RunResult resumed(StoredRun& stored, const RunConfig& config, const RunRequest& request,
                  bool other_end, RunWriter& run, Log& log) {
  const PreparedRun prepared = prepare_stored_run(stored, config, request, log);
  const optional<Error> useless = useless_steps(prepared, stored.steps_done());
  if (other_end && useless && prepared.plan.steps > 0) throw Error(*useless);
  require_room(prepared, request.folder);
  return go(prepared, request, run, log, [&](Trainer& trainer) {
    if (stored.checkpoint) trainer.restore(*stored.checkpoint);
    tidy(stored, prepared.config.train, true, run, log);
    run.write_config(dump_config(prepared.config));
    log.detail(fmt::format("resuming at step {}", stored.steps_done()));
  });
}

}  // namespace

RunResult resume_run(const ResumeRequest& request, Log& log) {
  if (!request.branch.empty()) return branch_run(request, log);
  optional<RunWriter> run = RunWriter::open(request.folder);
  StoredRun stored = read_stored_run(run->path(), newest_checkpoint(run->path()), log);
  RunConfig config = changed_config(stored, request.given);
  const auto may_branch = [](const KeyChange& c) { return c.on_resume == OnResume::if_rates_stay; };
  const bool other_end = request.max_steps + request.more > 0 || request.minutes > 0 ||
                         ranges::any_of(changed_keys(stored.asked, config), may_branch);
  if (!other_end) log.open_file((run->path() / kTrainLog).string());  // else it may get a branch
  string idle = other_end ? "" : nothing_to_do(stored, config.train, request.stop_at);
  int64_t other = 0;  // the first step done that would have another rate
  if (idle.empty() || names_other_files(stored, config)) load_data(stored, config, log);
  if (idle.empty()) {
    config = changed_config(stored, with(request.given, new_end(request, stored)));
    if (!stored.checkpoint) {
      if (const string& of = stored.origin.weights_of(); !of.empty())
        throw store_error("{} has lost the weights of {}, with which it began",
                          quoted_path(stored.folder), quoted_path(of))
            .hint("again, once it is removed (or with --force): " + stored.origin.command);
      log.info("no checkpoint yet: starting at step 0");
    }
    settle_end(config, stored.data.train);
    settle_end(stored.trained, stored.data.train);
    other = first_step_of_other_rate(stored, config);
    idle = nothing_to_do(stored, config.train, other > 0 ? 0 : request.stop_at);
  }
  if (!idle.empty()) return has_nothing_to_do(idle, stored, config, request, *run, log);
  if (other == 0) return resumed(stored, config, request, other_end, *run, log);
  run.reset();  // it stays as it is, its log too
  return branch_before(other, stored, config, request, log);
}

}  // namespace heed
