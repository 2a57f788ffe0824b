// The stored run is read and prepared first, without writing, so that a branch leaves its stem
// alone; then it goes on, in its own folder or in the branch's.
#include "train/resume.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "base/files.h"
#include "base/format.h"
#include "base/input_file.h"
#include "base/signals.h"
#include "math/blas.h"
#include "step/schedule.h"
#include "store/best.h"
#include "store/layout.h"
#include "store/open_checkpoint.h"
#include "store/origin.h"
#include "store/run_folder.h"
#include "store/trained_model.h"
#include "train/end.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxConfigFile = 16u << 20;

struct StoredRun {
  fs::path folder;
  std::optional<Checkpoint> checkpoint;  // the newest whole one; none: the run has not saved yet
  // The config that the user asked for: config.json or, if that is damaged, the checkpoint's.
  std::string text, name;
  RunConfig asked;                   // the same, parsed
  RunConfig trained;                 // the config of the steps done
  RunConfig config;                  // to continue with: `asked` with --set, --max-steps and --more
  std::vector<std::string> changes;  // from `trained`, in words
  Origin origin;
  std::string nothing_to_do;  // why, and what would continue the run; or ""
  std::optional<State> end;   // where the run was, if it goes back to `checkpoint` for a new end

  std::int64_t steps_done() const { return checkpoint ? checkpoint->state().step : 0; }
};

void read_asked(StoredRun& run, Log& log) {
  const fs::path path = run.folder / kConfigFile;
  if (!run.checkpoint && !fs::exists(path))
    throw Error(Exit::store,
                fmt::format("the run {} has neither a checkpoint nor a config.json.",
                            quoted_path(run.folder)),
                "remove it and train again");
  const auto read = [&](const std::string& text, const fs::path& name) {
    run.text = text;
    run.name = name.string();
    run.asked = parse_config(text, run.name);
  };
  try {
    read(read_file(path, kMaxConfigFile), path);
  } catch (const Error& e) {
    if (!run.checkpoint) throw e.as(Exit::store);
    log.warn(fmt::format("continuing with the checkpoint's config: {}", e.what()));
    read(run.checkpoint->config(), run.checkpoint->folder() / kConfigFile);
  }
}

void say_skipped(const NewestCheckpoint& newest, Log& log) {
  for (const DamagedCheckpoint& d : newest.damaged) log.warn("skipped a checkpoint: " + d.reason);
}

Tokenizers tokenizers_of(const StoredRun& run) {
  return run.checkpoint ? Tokenizers::load(run.checkpoint->tokenizers(), run.checkpoint->folder())
                        : Tokenizers();
}

// The step at which the run was to end, 0 if it was not planned in steps.
std::int64_t end_in_steps(const StoredRun& run) {
  const TrainConfig& t = run.asked.train;
  if (t.max_steps == 0 || t.max_epochs == 0) return t.max_steps;
  return prepare_run(run.asked, read_origin(run.folder).folder, tokenizers_of(run), 1).plan.steps;
}

// The steps that take so long at the speed that the run has logged, the median.
std::int64_t steps_at_speed(double minutes, const StoredRun& run) {
  std::vector<double> speeds;
  for (const TrainEvent& event : read_events(run.folder).train)
    if (event.tokens_per_second > 0) speeds.push_back(event.tokens_per_second);
  if (speeds.empty() || run.steps_done() == 0)
    throw Error(Exit::usage, "--minutes counts with the speed of the run, which has logged none.",
                "--more N, in steps");
  const auto middle = speeds.begin() + static_cast<std::ptrdiff_t>(speeds.size() / 2);
  std::ranges::nth_element(speeds, middle);
  const double tokens = static_cast<double>(run.checkpoint->state().tokens_seen);
  const double steps = 60 * minutes * *middle / (tokens / static_cast<double>(run.steps_done()));
  return std::max<std::int64_t>(1, std::llround(steps));
}

// The step that --max-steps, --more or --minutes asks for, else 0. `notes`: how it is counted.
std::int64_t new_end(const StoredRun& run, const ResumeRequest& request,
                     std::vector<std::string>& notes) {
  const char* option = request.max_steps > 0 ? "--max-steps"
                       : request.more > 0    ? "--more"
                       : request.minutes > 0 ? "--minutes"
                                             : nullptr;
  if (option == nullptr) return 0;
  if (read_sets(request.run.sets).keys.contains("train.max_steps"))
    throw Error(Exit::usage,
                fmt::format("{} and --set train.max_steps both say where the run ends.", option),
                "one of them");
  if (request.max_steps > 0) return request.max_steps;
  const std::int64_t more = request.more > 0 ? request.more : steps_at_speed(request.minutes, run);
  const std::int64_t done = run.steps_done(), end = std::max(done, end_in_steps(run));
  if (end > done)
    notes.push_back(fmt::format("{} counts from the planned end, step {}", option, end));
  if (request.minutes > 0)
    notes.push_back(fmt::format("--minutes {:g}: {} steps", request.minutes, format_count(more)));
  return end + more;
}

[[noreturn]] void refuse_change(const std::string& change, const ResumeRequest& request,
                                const std::string& hint) {
  throw Error(Exit::usage,
              fmt::format("a resumed run cannot change {}: the steps already done would have been "
                          "different.",
                          change),
              "heed train with --init-from " + shell_word(request.run.folder) + hint);
}

// An end in steps takes the place of one in epochs. `falls_there`: the schedule ends with it too,
// as in a branch, unless --set says where.
RunConfig continued_config(const StoredRun& run, const ResumeRequest& request, std::int64_t end,
                           bool falls_there) try {
  std::vector<std::string> sets;
  if (falls_there) sets.push_back("optimizer.decay_steps=null");
  if (end > 0 && request.branch.empty() && run.asked.train.max_epochs > 0)
    sets.push_back("train.max_epochs=0");
  sets.insert(sets.end(), request.run.sets.begin(), request.run.sets.end());
  if (end > 0) sets.push_back(fmt::format("train.max_steps={}", end));
  return parse_config(run.text, run.name, sets);
} catch (const Error&) {  // of a rule between keys, which would advise to change others
  const GivenKeys given = read_sets(request.run.sets);
  for (const KeyChange& change : changed_keys(run.trained, given.values))
    if (change.on_resume == OnResume::refused && given.keys.contains(change.key))
      refuse_change(in_words(change), request, "");
  throw;
}

// Does the rate stay until it falls at the end, wherever that is?
bool falls_at_its_end(const RunConfig& config, const std::string& run) {
  return full_rate_until(config.optimizer) > 0 && is_of_a_text(run);
}

// The first of the steps done that has another rate in one of two configs, else 0.
std::int64_t first_other_rate(const RunConfig& was, const RunConfig& is, std::int64_t done) {
  for (std::int64_t step = 1; step <= done; ++step)
    if (learning_rate(was.optimizer, was.model.d_model, step) !=
        learning_rate(is.optimizer, was.model.d_model, step))
      return step;
  return 0;
}

// A run of a text that is to end later: its rate falls at the new end, so if it has begun to fall,
// the run goes back to before that. Without a checkpoint from there the schedule stays as it is.
void move_the_fall(StoredRun& run, const ResumeRequest& request, std::int64_t end, Log& log) {
  const RunConfig& asked = run.asked;
  const std::int64_t fall = full_rate_until(asked.optimizer), to = run.config.train.max_steps;
  if (!run.checkpoint || to == asked.train.max_steps || to <= asked.optimizer.decay_steps ||
      !falls_at_its_end(asked, run.folder))
    return;
  if (run.steps_done() > fall) {
    NewestCheckpoint before = newest_checkpoint(run.folder, fall);
    say_skipped(before, log);
    if (!before.checkpoint || before.checkpoint->state().step == 0)
      return log.warn("no checkpoint from before the fall is left: the rate stays at its lowest");
    run.end = run.checkpoint->state();
    run.checkpoint = std::move(before.checkpoint);
    run.trained = checkpoint_config(*run.checkpoint);
  } else {  // was it killed after it had gone back, before it wrote so?
    for (const auto& [name, state] : kept_states(run.folder))
      if (state.step > run.steps_done()) run.end = state;
  }
  run.config = continued_config(run, request, end, true);
}

// The keys that changed, in words. Error (usage) on changes that the steps already done forbid.
std::vector<std::string> allowed_changes(const StoredRun& run, const ResumeRequest& request) {
  std::vector<std::string> changes;
  const std::set<std::string> given = read_sets(request.run.sets).keys;
  RunConfig same_rates = run.config;  // the highest and the lowest may change
  same_rates.optimizer.learning_rate = run.trained.optimizer.learning_rate;
  same_rates.optimizer.min_learning_rate = run.trained.optimizer.min_learning_rate;
  const auto fits = [&](const std::string& key) {
    return !request.branch.empty() ||
           (!given.contains(key) && is_of_a_text(run.folder) &&
            first_other_rate(run.trained, same_rates, run.steps_done()) == 0);
  };
  std::vector<KeyChange> changed = changed_keys(run.trained, run.config);
  // A refusal names what the user gave rather than what follows from it.
  std::stable_partition(changed.begin(), changed.end(),
                        [&](const KeyChange& c) { return given.contains(c.key); });
  for (const KeyChange& change : changed) {
    if (std::ranges::any_of(kOfThisProcess,
                            [&](std::string key) { return change.key == "train." + key; }))
      continue;
    const std::string text = in_words(change);
    const bool of_schedule = change.on_resume == OnResume::branch;
    if (change.on_resume == OnResume::refused || (of_schedule && !fits(change.key)))
      refuse_change(text, request,
                    of_schedule ? "; or --branch DIR, if their learning rates stay" : "");
    changes.push_back(text);
  }
  return changes;
}

std::string nothing_to_do(const StoredRun& run, std::int64_t stop_at) {
  const TrainConfig& t = run.config.train;
  const State& s = run.checkpoint->state();
  constexpr const char* kMore = "--more N continues for N steps";
  const auto already = [&](const std::string& where, const char* what_continues) {
    return fmt::format("already {}; nothing to do; {}", where, what_continues);
  };
  switch (end_of(t, s)) {
    case End::steps:
      return already(
          fmt::format("at step {}{}{}", s.step,
                      s.step > t.max_steps ? ", past train.max_steps " : " of ", t.max_steps),
          kMore);
    case End::epochs:
      return already(fmt::format("at step {}, the end of epoch {} of {}", s.step, s.cursor.epoch,
                                 t.max_epochs),
                     decays(run.config.optimizer) && s.step >= decayed_at(run.config.optimizer)
                         ? kMore
                         : "--set train.max_epochs=N continues; or --more N, for N steps");
    case End::patience:
      return already(fmt::format("stopped early at step {}", s.step),
                     "--set train.patience=N, greater or 0, continues");
    case End::none:
      break;
  }
  const std::int64_t at = run.end ? run.end->step : s.step;
  if (stop_at > 0 && s.step >= stop_at)
    return already(
        fmt::format("at step {}, {} --stop-at {}", at, at > stop_at ? "past" : "that of", stop_at),
        "a later --stop-at continues");
  return "";
}

// The data must be that of the steps already done or, before the first checkpoint, of the start.
void refuse_other_data(const Dataset& data, const std::optional<Checkpoint>& checkpoint,
                       const Origin& origin) {
  const std::string found = data.hash.all();
  const std::string expected = checkpoint ? checkpoint->state().data_hash : origin.hash.all();
  if (found == expected || (expected.empty() && !checkpoint)) return;
  throw Error(Exit::data,
              fmt::format("the data (training or held-out) is not what this run was trained on: "
                          "its SHA-256 is {:.12}..., {} says {:.12}...",
                          found, checkpoint ? "the checkpoint" : kOriginFile, expected),
              checkpoint ? "restore the file, or train a new run with --init-from"
                         : "restore the file, or train a new run");
}

// Training never reaches such a cursor: an epoch takes at least one step.
void refuse_cursor_beyond_data(const PreparedRun& run, const Checkpoint& checkpoint) {
  const Cursor at = checkpoint.state().cursor;
  const bool inside =
      at.epoch <= checkpoint.state().step &&
      (at.index == 0 || at.index < make_objective(run.config)->count(run.data.train, at.epoch));
  if (inside) return;
  throw Error(
      Exit::store,
      fmt::format("{}: epoch {}, example {} is beyond the data",
                  (checkpoint.folder() / kStateFile).string(), at.epoch, at.index),
      "restore a copy; or move this checkpoint's folder away to resume from the one before");
}

// Has --set named other files of the data? A run that has nothing to do remembers them too.
bool names_other_files(const StoredRun& run) {
  const auto changes = changed_keys(run.asked, run.config);
  return std::ranges::any_of(changes,
                             [](const KeyChange& c) { return c.key.starts_with("data."); });
}

// Warns of damaged checkpoints that it skips. Error (store) if only those are left, if the folder
// holds no run, or nothing to branch from; Error (usage) on changes that the steps already done
// forbid.
StoredRun read_stored_run(const ResumeRequest& request, const fs::path& folder,
                          NewestCheckpoint newest, Log& log) {
  say_skipped(newest, log);
  if (!newest.checkpoint && !newest.damaged.empty())
    throw Error(
        Exit::store,
        fmt::format(
            "no checkpoint of {} is whole; starting at step 0 would overwrite what is left of "
            "them.",
            quoted_path(folder)),
        "the warnings above say what is wrong with each; restore a copy, or train a new run");
  StoredRun run;
  run.folder = folder;
  run.checkpoint = std::move(newest.checkpoint);
  read_asked(run, log);
  run.trained = run.checkpoint ? checkpoint_config(*run.checkpoint) : run.asked;
  if (!run.checkpoint && !request.branch.empty())
    throw Error(Exit::store, quoted_path(request.run.folder) + " has no checkpoint yet.",
                "wait until it saves (train.save_every)");
  std::vector<std::string> notes;
  const std::int64_t end = new_end(run, request, notes);
  run.config = continued_config(run, request, end, !request.branch.empty());
  if (request.branch.empty()) move_the_fall(run, request, end, log);
  run.changes = allowed_changes(run, request);
  if (run.checkpoint) run.nothing_to_do = nothing_to_do(run, request.run.stop_at);
  if (!run.nothing_to_do.empty() && !names_other_files(run)) return run;  // needs no data
  for (const std::string& note : notes) log.info(note);
  run.origin = read_origin(folder);
  if (run.origin.folder.empty())
    log.warn(
        "origin.json does not say where the run began: relative paths of its data are taken "
        "from the current folder");
  return run;
}

// Error (data) if the data is not that of the steps done.
PreparedRun prepare_stored_run(const StoredRun& run, const RunRequest& request, Log& log) {
  for (const std::string& change : run.changes) log.info("changed: " + change);
  PreparedRun prepared = prepare_run(run.config, run.origin.folder, tokenizers_of(run),
                                     request.threads, *request.exchange);
  refuse_other_data(prepared.data, run.checkpoint, run.origin);
  if (run.checkpoint) refuse_cursor_beyond_data(prepared, *run.checkpoint);
  watch_signals();
  return prepared;
}

// The same bytes are promised on one type of processor only: OpenBLAS has other kernels for others.
// A change is logged, and recorded in metrics.jsonl. `of_start`: the type in origin.json; the type
// so far is that of the last event that names one.
void say_core_type(const std::string& of_start, std::int64_t step, RunWriter& run, Log& log) {
  const std::string here = blas_core_type();
  std::string before = of_start;
  for (const RunEvent& event : read_events(run.path()).events)
    before = event.core_type.value_or(before);
  if (before.empty() || before == here) return;
  const std::string text = fmt::format(
      "the run was on a processor of type {} and continues on one of type {} (OpenBLAS's names): "
      "its last digits will differ from those of one that did not change",
      before, here);
  log.warn(text);
  run.append(kMetrics, line_of(RunEvent{step, "resume", text, here}));
}

// Without a checkpoint a run starts again, which needs the weights that it began with.
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

constexpr const char* kRateOf0 =
    "the schedule has ended: the learning rate is 0, so training would change nothing; add, for "
    "example, --set optimizer.min_learning_rate=1e-4";

// A schedule ends where it was planned to, even if the run has got a later end, `end`. Says so;
// Error (usage) if steps would change nothing.
void check_schedule(const StoredRun& run, const RunConfig& config, std::int64_t end, Log& log) {
  const OptimizerConfig& o = config.optimizer;
  const TrainConfig &was = run.asked.train, &is = config.train;
  const auto rate = [&](std::int64_t step) { return learning_rate(o, config.model.d_model, step); };
  const bool other_end = was.max_steps != is.max_steps || was.max_epochs != is.max_epochs;
  if (!other_end || !decays(o) || end <= decayed_at(o)) {
    if (run.steps_done() >= decayed_at(o) && rate(run.steps_done() + 1) == 0) log.warn(kRateOf0);
    return;
  }
  const std::string folder = shell_word(run.folder.string());
  const std::string anew =
      is.max_epochs > 0 && falls_at_its_end(config, run.folder) ? "--more N, in steps"
      : run.steps_done() <= full_rate_until(o)
          ? fmt::format("heed resume {} --branch DIR --max-steps {}", folder, end)
          : fmt::format(
                "heed train with --init-from {}, or (wsd) --branch DIR with a --checkpoint "
                "from before the fall",
                folder);
  if (rate(end) == 0)
    throw Error(Exit::usage,
                fmt::format("the schedule ends at step {}: beyond it the learning rate is 0, so "
                            "training would change nothing.",
                            decayed_at(o)),
                "--set optimizer.min_learning_rate=1e-4; or, for a rate that falls anew, " + anew);
  log.info(fmt::format(
      "the schedule ends before the run, at optimizer.{} {}; for a rate that falls anew: {}",
      decayed_at(o) == o.decay_steps ? "decay_steps" : "warmup_steps", decayed_at(o), anew));
}

RunResult resume_opened(const ResumeRequest& request, RunWriter& run, Log& log) {
  const StoredRun stored = read_stored_run(request, run.path(), newest_checkpoint(run.path()), log);
  const std::optional<Checkpoint>& checkpoint = stored.checkpoint;
  const std::int64_t done = stored.steps_done();
  const RunConfig& config = stored.config;
  if (!stored.nothing_to_do.empty()) {
    const State& state = stored.end ? *stored.end : checkpoint->state();
    keep_fall(run, stored.asked);
    run.finish_save(state.step, config.train.keep_last);
    say_cut(log, run.cut_lines(state.step), state.step);
    const bool ended = learning_rate(config.optimizer, config.model.d_model, done + 1) == 0 &&
                       !falls_at_its_end(config, request.run.folder);
    log.info(stored.nothing_to_do + (ended ? fmt::format("; {}", kRateOf0) : ""));
    if (names_other_files(stored)) {  // commands that read the data look there
      run.write_config(dump_config(prepare_stored_run(stored, request.run, log).config));
    }
    return result_of(run, request.run, state, "already_done");
  }
  if (!checkpoint) {
    refuse_lost_weights(run, stored.origin);
    log.info("no checkpoint yet: starting at step 0");
  }
  const std::int64_t planned = stored.asked.train.max_steps;
  if (config.train.max_steps > 0 && config.train.max_steps < planned)
    log.warn(fmt::format("the run now ends before step {}; --stop-at keeps that plan", planned));

  const PreparedRun prepared = prepare_stored_run(stored, request.run, log);
  check_schedule(stored, prepared.config, prepared.plan.steps, log);
  get_ready(prepared, request.run, request.run.folder, log);
  return train_to_the_end(prepared, request.run, run, log, [&](Trainer& trainer) {
    if (checkpoint) {
      trainer.restore(*checkpoint);
      if (stored.end) run.go_back(done);
      run.finish_save(done, config.train.keep_last);
    }
    const MetricsCut cut = run.cut_lines(done);
    say_cut(log, cut, done);
    if (stored.end) {
      const std::string text = fmt::format(
          "back from step {} to step {}, where the rate had not begun to fall; now it "
          "falls to step {}",
          stored.end->step, done, config.train.max_steps);
      log.info(text);
    }
    if (!checkpoint && cut.kept == 0)  // killed before it was written
      run.append(kMetrics,
                 line_of(RunEvent{0, "start", stored.origin.command, stored.origin.core_type}));
    run.write_config(dump_config(prepared.config));
    say_core_type(stored.origin.core_type, done, run, log);
    log.info(fmt::format("resuming at step {}", done));
  });
}

// Is `inner` in `outer`, or the same folder?
bool contains(const std::string& outer, const std::string& inner) {
  const auto canonical = [](const std::string& path) {
    std::error_code ignored;
    return fs::weakly_canonical(fs::absolute(path), ignored);
  };
  const fs::path path = canonical(inner).lexically_relative(canonical(outer));
  return !path.empty() && *path.begin() != "..";
}

NewestCheckpoint beginning_of(const ResumeRequest& r) {
  if (r.checkpoint.empty()) return newest_checkpoint(r.run.folder);
  Checkpoint chosen = open_checkpoint(r.run.folder, r.checkpoint);
  if (!fs::equivalent(run_of_checkpoint(chosen.folder()), r.run.folder))
    throw Error(Exit::usage, fmt::format("{} is not a checkpoint of {}.", chosen.folder().string(),
                                         quoted_path(r.run.folder)));
  if (!chosen.has_training())
    throw Error(Exit::usage,
                chosen.folder().string() + " has no optimizer state, so it cannot be continued.",
                "--checkpoint step-N");
  return {std::move(chosen), {}};
}

struct BranchPoint {
  NewestCheckpoint newest;
  std::vector<Checkpoint> earlier;  // the first weights, if the stem keeps them, and the best ones
};

// All of one moment: a stem that is still training removes its best checkpoint for a better one.
BranchPoint branch_point(const ResumeRequest& r, Log& log) {
  for (int left = 3;; --left) {
    BranchPoint point{beginning_of(r), {}};
    if (!point.newest.checkpoint) return point;
    const State& state = point.newest.checkpoint->state();
    std::vector<State> steps = states_of(r.run.folder);
    std::erase_if(steps, [&](const State& s) { return s.step > state.step; });
    const auto best = std::ranges::min_element(steps, is_better);
    const bool any = best != steps.end();
    State known = state;  // the best that training had seen
    known.step = state.best_step;
    known.valid_loss = state.best_loss;
    known.valid_metric = state.best_metric;
    bool gone = state.best_step >= 0 && (!any || is_better(known, *best));
    for (const std::int64_t step : {std::int64_t{0}, any ? best->step : 0}) {
      if (step == state.step) continue;
      try {
        auto found = open_if_there(fs::path(r.run.folder) / kCheckpoints / step_folder_name(step));
        if (found) point.earlier.push_back(std::move(*found));
        gone = gone || (!found && step > 0);
      } catch (const Error& e) {
        log.warn(fmt::format("the branch begins without step {}: {}", step, e.what()));
      }
    }
    if (gone && left > 1) continue;
    if (gone) log.warn("the branch begins without its best checkpoint, which is gone");
    return point;
  }
}

[[noreturn]] void refuse_branch(const StoredRun& stem, const std::string& why,
                                const std::string& hint) {
  throw Error(Exit::usage,
              fmt::format("the branch begins at step {} of {}, and {}", stem.steps_done(),
                          quoted_path(stem.folder), why),
              hint);
}

// Error (usage) if there is nothing left to do.
void check_end(const StoredRun& stem) {
  const std::int64_t done = stem.steps_done(), end = stem.config.train.max_steps;
  if (end > 0 && end <= done)
    refuse_branch(
        stem, fmt::format("train.max_steps is {}.", end),
        fmt::format("--max-steps greater than {}, or --checkpoint with an earlier step", done));
  if (!stem.nothing_to_do.empty()) refuse_branch(stem, "it is " + stem.nothing_to_do, "");
}

// Error (usage) unless `is`, the branch's config, could reproduce the steps done.
void check_steps_done(const StoredRun& stem, const RunConfig& is) {
  const RunConfig& was = stem.trained;
  const std::int64_t done = stem.steps_done();
  const auto refuse = [&](const std::string& why, const std::string& hint) {
    refuse_branch(stem, why, hint);
  };
  if (was.optimizer.clip_norm != is.optimizer.clip_norm)
    refuse(fmt::format("its steps had optimizer.clip_norm {}, not {}: no single config could "
                       "reproduce such a run.",
                       was.optimizer.clip_norm, is.optimizer.clip_norm),
           fmt::format("--set optimizer.clip_norm={}", was.optimizer.clip_norm));
  if (const std::int64_t step = first_other_rate(was, is, done); step > 0) {
    const double had = learning_rate(was.optimizer, was.model.d_model, step);
    const double has = learning_rate(is.optimizer, was.model.d_model, step);
    refuse(fmt::format("with its config step {} would have had the learning rate {:.9g} instead of "
                       "{:.9g}: no single config could reproduce such a run.",
                       step, has, had),
           fmt::format("a later --max-steps or a smaller optimizer.decay_fraction; --checkpoint "
                       "with one from before step {}; the run's learning rate must stay constant "
                       "until it decays (optimizer.schedule wsd), with the same learning_rate and "
                       "warmup_steps",
                       step));
  }
}

RunResult branch_run(const ResumeRequest& request, Log& log) {
  if (contains(request.run.folder, request.branch) || contains(request.branch, request.run.folder))
    throw Error(
        Exit::usage,
        fmt::format("the branch {} and the run {} overlap; a branch leaves its run as it is.",
                    quoted_path(request.branch), quoted_path(request.run.folder)),
        "--branch with a folder beside it");
  RunWriter::require_free(request.branch, request.run.force);
  BranchPoint point = branch_point(request, log);
  const StoredRun stem = read_stored_run(request, request.run.folder, std::move(point.newest), log);
  const std::int64_t step = stem.steps_done();
  check_end(stem);

  Origin origin = stem.origin;
  const std::string core_type = origin.core_type;
  const PreparedRun prepared = prepare_stored_run(stem, request.run, log);
  check_steps_done(stem, prepared.config);
  std::error_code ignored;
  fs::path text;
  if (!origin.folder.empty()) origin.folder = fs::absolute(origin.folder).lexically_normal();
  if (fs::equivalent(origin.folder, request.run.folder, ignored) &&
      fs::exists(stem.folder / kRunText)) {
    origin.folder = ".";  // heed train -: the run keeps its text
    text = stem.folder / kRunText;
  }
  origin.hash = prepared.data.hash;
  origin.branched_from = request.run.folder;
  origin.branched_at = step;
  origin.command = request.run.command;
  origin.core_type = blas_core_type();
  get_ready(prepared, request.run, request.branch, log);
  RunWriter run = RunWriter::create(request.branch, request.run.force,
                                    {origin_json(origin), dump_config(prepared.config), text});

  return with_errors_in_log(run, log, [&] {
    return train_to_the_end(prepared, request.run, run, log, [&](Trainer& trainer) {
      say_cut(log, {.kept = run.copy_lines(request.run.folder, step).kept}, step);
      say_core_type(core_type, step, run, log);
      const std::string event =
          fmt::format("branched from {} at step {}", request.run.folder, step);
      run.append(kMetrics, line_of(RunEvent{step, "branch", event}));
      for (const Checkpoint& checkpoint : point.earlier) trainer.adopt(checkpoint);
      trainer.adopt(*stem.checkpoint);
      log.info(event);
    });
  });
}

}  // namespace

bool can_go_on(const RunConfig& config, std::int64_t step, const std::string& run) {
  const OptimizerConfig& o = config.optimizer;
  return learning_rate(o, config.model.d_model, std::max(step, decayed_at(o)) + 1) > 0 ||
         falls_at_its_end(config, run);
}

RunResult resume_run(const ResumeRequest& request, Log& log) {
  if (!request.branch.empty()) return branch_run(request, log);
  RunWriter run = RunWriter::open(request.run.folder);
  return with_errors_in_log(run, log, [&] { return resume_opened(request, run, log); });
}

}  // namespace heed
