// heed resume --branch: the stem is read and prepared without a change to it, then the branch is
// made.
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/files.h"
#include "base/format.h"
#include "step/schedule.h"
#include "store/run_folder.h"
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

// Error (usage) unless `is`, the branch's config, could reproduce the steps done.
void check_steps_done(const StoredRun& stem, const RunConfig& is) {
  const RunConfig& was = stem.trained;
  if (was.optimizer.clip_norm != is.optimizer.clip_norm)
    refuse_branch(stem,
                  fmt::format("its steps had optimizer.clip_norm {}, not {}: no single config "
                              "could reproduce such a run.",
                              was.optimizer.clip_norm, is.optimizer.clip_norm),
                  fmt::format("--set optimizer.clip_norm={}", was.optimizer.clip_norm));
  const std::int64_t step = first_other_rate(was, is, stem.steps_done());
  if (step == 0) return;
  const auto rate = [&](const RunConfig& c) {
    return learning_rate(c.optimizer, was.model.d_model, step);
  };
  refuse_branch(stem,
                fmt::format("with its config step {} would have had the learning rate {:.9g} "
                            "instead of {:.9g}: no single config could reproduce such a run.",
                            step, rate(is), rate(was)),
                fmt::format("a later --max-steps or a smaller optimizer.decay_fraction; "
                            "--checkpoint with one from before step {}; the run's learning rate "
                            "must stay constant until it decays (optimizer.schedule wsd), with the "
                            "same learning_rate and warmup_steps",
                            step));
}

// The first weights, if the run keeps them, and its best up to there: a run that is still training
// may have removed that for a better one.
std::vector<Checkpoint> earlier_ones(const StoredRun& stem, Log& log) {
  const State& state = stem.checkpoint->state();
  const State best = best_of(states_of(stem.folder, state.step)).value_or(state),
              known = best_so_far(state);
  if (known.step >= 0 && is_better(known, best))
    log.info(
        fmt::format("its best checkpoint up to there, step {}, is no longer kept", known.step));
  std::vector<Checkpoint> earlier;
  for (const std::int64_t step : std::set<std::int64_t>{0, best.step}) {
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

}  // namespace

RunResult branched(StoredRun& stem, const RunConfig& config, const RunRequest& request,
                   const std::string& branch, Log& log) {
  const std::int64_t done = stem.steps_done();
  if (const std::string why = nothing_to_do(stem, config.train, request.stop_at); !why.empty())
    refuse_branch(stem, "it is " + why,
                  "a later --max-steps or --stop-at, --checkpoint with an earlier step, or --set "
                  "with another train.max_steps, train.max_epochs or train.patience");
  settle_end(stem.trained, stem.data.train);
  const PreparedRun prepared = prepare_stored_run(stem, config, request, log);
  check_steps_done(stem, prepared.config);

  const fs::path from = with_name(stem.folder);
  Origin origin = stem.origin;
  fs::path text;
  std::error_code ignored;
  if (!origin.folder.empty()) origin.folder = fs::absolute(origin.folder).lexically_normal();
  if (fs::equivalent(origin.folder, from, ignored) && fs::exists(from / kRunText)) {
    origin.folder = ".";  // heed train -: the run keeps its text
    text = from / kRunText;
  }
  origin.hash = prepared.data.hash;
  origin.branched_from = from.string();
  origin.branched_at = done;
  origin.command = request.command;
  for (const auto& [key, place] : request.given.keys) origin.given.push_back(key);

  const std::vector<Checkpoint> earlier = earlier_ones(stem, log);
  require_room(prepared, branch, log);
  RunWriter run = RunWriter::create(branch, request.force,
                                    {origin_json(origin), dump_config(prepared.config), text});
  return go(prepared, request, run, log, [&](Trainer& trainer) {
    run.copy_lines(from, done);
    const std::string event =
        fmt::format("branched from {} at step {}", origin.branched_from, done);
    run.append(kMetrics, line_of(RunEvent{done, "branch", event}));
    for (const Checkpoint& checkpoint : earlier) trainer.adopt(checkpoint);
    trainer.adopt(*stem.checkpoint);
    log.info(event);
  });
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
  NewestCheckpoint at = beginning_of(folder, request.checkpoint);
  if (!at.checkpoint && at.damaged.empty())
    throw Error(Exit::store, quoted_path(folder) + " has no checkpoint yet.",
                "wait until it saves (train.save_every)");
  StoredRun stem = read_stored_run(folder, std::move(at), log);
  GivenKeys changes = request.run.given;
  // The schedule ends with the branch, unless --set says where.
  if (!changes.contains("optimizer.decay_steps")) changes.reset.insert("optimizer.decay_steps");
  load_data(stem, changed_config(stem, changes), log);
  const RunConfig config = changed_config(stem, with(changes, new_end(request, stem)));
  return branched(stem, config, request.run, request.branch, log);
}

}  // namespace heed
