// heed resume --branch: the stem is read and prepared without a change to it, then the branch is
// made.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "base/format.h"
#include "step/schedule.h"
#include "store/run_folder.h"
#include "train/resume.h"
#include "train/stored_run.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

// Is `inner` in `outer`, or the same folder?
bool contains(const std::string& outer, const std::string& inner) {
  const auto canonical = [](const std::string& path) {
    std::error_code ignored;
    return fs::weakly_canonical(fs::absolute(path), ignored);
  };
  const fs::path path = canonical(inner).lexically_relative(canonical(outer));
  return !path.empty() && *path.begin() != "..";
}

NewestCheckpoint beginning_of(const std::string& run, const std::string& checkpoint) {
  if (checkpoint.empty()) return newest_checkpoint(run);
  Checkpoint chosen = open_checkpoint(run, checkpoint);
  if (!fs::equivalent(run_of_checkpoint(chosen.folder()), run))
    throw Error(Exit::usage, fmt::format("{} is not a checkpoint of {}.", chosen.folder().string(),
                                         quoted_path(run)));
  // A copy under another name may be of steps whose lines are gone.
  const bool of_step = checkpoint_name(chosen.folder()) == step_folder_name(chosen.state().step);
  if (!of_step || !chosen.has_training())
    throw Error(Exit::usage,
                fmt::format("{} {}, so it cannot be continued.", chosen.folder().string(),
                            chosen.has_training() ? "is not of a step of the run"
                                                  : "has no optimizer state"),
                "--checkpoint step-N");
  return {std::move(chosen), {}};
}

[[noreturn]] void refuse_branch(const StoredRun& stem, const std::string& why,
                                const std::string& hint) {
  throw Error(Exit::usage,
              fmt::format("the branch begins at step {} of {}, and {}", stem.steps_done(),
                          quoted_path(stem.folder), why),
              hint);
}

// Error (usage) if there is nothing left to do.
void check_end(const StoredRun& stem, const RunConfig& config, std::int64_t stop_at) {
  const std::int64_t done = stem.steps_done(), end = config.train.max_steps;
  if (end > 0 && end <= done)
    refuse_branch(
        stem, fmt::format("train.max_steps is {}.", end),
        fmt::format("--max-steps greater than {}, or --checkpoint with an earlier step", done));
  if (const std::string why = nothing_to_do(config.train, stem.checkpoint->state(), stop_at);
      !why.empty())
    refuse_branch(stem, "it is " + why,
                  "a later --stop-at, or --set with another train.max_epochs or train.patience");
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

}  // namespace

Stem stem_at(const std::string& run, NewestCheckpoint at, Log& log) {
  if (!at.checkpoint && at.damaged.empty())
    throw Error(Exit::store, quoted_path(run) + " has no checkpoint yet.",
                "wait until it saves (train.save_every)");
  std::vector<Checkpoint> earlier;
  if (at.checkpoint) {
    const State& state = at.checkpoint->state();
    State known = state;  // the best that training had seen
    known.step = state.best_step;
    known.valid_loss = state.best_loss;
    known.valid_metric = state.best_metric;
    const State best = best_of(states_of(run, state.step)).value_or(state);
    if (state.best_step >= 0 && is_better(known, best))
      log.info(
          fmt::format("its best checkpoint up to there, step {}, is no longer kept", known.step));
    for (const std::int64_t step : std::set<std::int64_t>{0, best.step}) try {
        const fs::path folder = step_folder(run, step);
        if (step != state.step && path_exists(folder)) earlier.push_back(Checkpoint::open(folder));
      } catch (const Unreadable&) {
        throw;
      } catch (const Error& e) {
        log.warn(fmt::format("the branch begins without step {}: {}", step, e.what()));
      }
  }
  return {read_stored_run(run, std::move(at), log), std::move(earlier)};
}

RunResult branch_run(const ResumeRequest& request, Log& log) {
  const std::string& folder = request.run.folder;
  if (contains(folder, request.branch) || contains(request.branch, folder))
    throw Error(
        Exit::usage,
        fmt::format("the branch {} and the run {} overlap; a branch leaves its run as it is.",
                    quoted_path(request.branch), quoted_path(folder)),
        "--branch with a folder beside it");
  RunWriter::require_own_checkpoints(folder);
  RunWriter::require_free(request.branch, request.run.force);
  Stem stem = stem_at(folder, beginning_of(folder, request.checkpoint), log);
  GivenKeys changes = request.run.given;
  // The schedule ends with the branch, unless --set says where.
  if (!changes.contains("optimizer.decay_steps")) changes.reset.insert("optimizer.decay_steps");
  RunConfig config = changed_config(stem, changes);
  StoredData data = load_data(stem, config, log);
  const NewEnd end = new_end(request, stem, data.data);
  for (const std::string& note : end.notes) log.info(note);
  config = changed_config(stem, with(changes, end.keys));
  return branch_off(request.run, request.branch, std::move(stem), config, std::move(data), log);
}

RunResult branch_off(const RunRequest& request, const std::string& branch, Stem stem,
                     const RunConfig& config, StoredData data, Log& log) {
  check_end(stem, config, request.stop_at);
  settle_end(stem.trained, data.data.train);
  PreparedRun prepared = prepare_stored_run(stem, config, std::move(data), request, log);
  check_steps_done(stem, prepared.config);

  const fs::path from = with_name(stem.folder);
  Beginning beginning{.prepared = std::move(prepared),
                      .origin = read_origin(from.string()),
                      .from = from,
                      .at = std::move(stem.checkpoint),
                      .earlier = std::move(stem.earlier)};
  Origin& origin = beginning.origin;
  std::error_code ignored;
  if (!origin.folder.empty()) origin.folder = fs::absolute(origin.folder).lexically_normal();
  if (fs::equivalent(origin.folder, from, ignored) && fs::exists(from / kRunText)) {
    origin.folder = ".";  // heed train -: the run keeps its text
    beginning.stored_text = from / kRunText;
  }
  origin.hash = beginning.prepared.data.hash;
  origin.branched_from = from.string();
  origin.branched_at = beginning.steps_done();
  origin.command = request.command;
  for (const auto& [key, place] : request.given.keys) origin.given.push_back(key);
  beginning.events.push_back(
      {origin.branched_at, "branch",
       fmt::format("branched from {} at step {}", origin.branched_from, origin.branched_at)});
  return go_in_new_folder(beginning, request, branch, log);
}

}  // namespace heed
