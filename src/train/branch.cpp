// heed resume STEM --branch DIR
#include <fmt/core.h>

#include "base/files.h"
#include "base/signals.h"
#include "math/blas.h"
#include "store/layout.h"
#include "store/run_folder.h"
#include "train/schedule.h"
#include "train/stored_run.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

// Is `inner` in `outer`, or the same?
bool holds(const std::string& outer, const std::string& inner) {
  const auto whole = [](const std::string& path) {
    std::error_code unknown;
    return fs::weakly_canonical(fs::absolute(path), unknown);
  };
  const fs::path path = whole(inner).lexically_relative(whole(outer));
  return !path.empty() && *path.begin() != "..";
}

NewestCheckpoint beginning(const ResumeRequest& r) {
  if (r.checkpoint.empty()) return newest_checkpoint(r.run);
  Checkpoint chosen = open_checkpoint(r.run, r.checkpoint);
  if (!fs::equivalent(run_of_checkpoint(chosen.folder()), r.run))
    throw Error(Exit::usage, fmt::format("{} is not a checkpoint of {}.", chosen.folder().string(),
                                         quoted_path(r.run)));
  if (!chosen.has_training())
    throw Error(Exit::usage,
                chosen.folder().string() + " has no optimizer's state, so nothing continues it.",
                "--checkpoint step-N");
  return {std::move(chosen), {}};
}

// The first weights, where the stem keeps them, and the best ones. A stem that trains meanwhile may
// have replaced those.
std::vector<Checkpoint> earlier_ones(const fs::path& run, const State& state, Log& log) {
  std::vector<Checkpoint> kept;
  for (const std::int64_t step : {std::int64_t{0}, state.best_step}) {
    if (step < 0 || step == state.step) continue;
    try {
      if (auto found = open_if_there(run / kCheckpoints / step_folder_name(step)))
        kept.push_back(std::move(*found));
      else if (step > 0)
        log.warn(fmt::format("the branch begins without its best step, {}, which is gone", step));
    } catch (const Error& e) {
      log.warn(fmt::format("the branch begins without step {}: {}", step, e.what()));
    }
  }
  return kept;
}

// Error (usage) unless the branch's config gives the steps done what they had.
void check_steps_done(const StoredRun& stem, const std::string& run) {
  const RunConfig &was = stem.trained, &is = stem.config;
  const std::int64_t done = stem.steps_done(), end = is.train.max_steps;
  const auto refuse = [&](const std::string& why, const std::string& hint) {
    throw Error(
        Exit::usage,
        fmt::format("the branch begins at step {} of {}, and {}", done, quoted_path(run), why),
        hint);
  };
  if (end > 0 && end <= done)
    refuse(fmt::format("train.max_steps is {}.", end),
           fmt::format("--max-steps greater than {}, or --checkpoint with an earlier step", done));
  if (!stem.nothing_to_do.empty()) refuse("it is " + stem.nothing_to_do, "");
  if (was.optimizer.clip_norm != is.optimizer.clip_norm)
    refuse(fmt::format("its steps had optimizer.clip_norm {}, not {}: no config would describe it.",
                       was.optimizer.clip_norm, is.optimizer.clip_norm),
           fmt::format("--set optimizer.clip_norm={}", was.optimizer.clip_norm));
  for (std::int64_t step = 1; step <= done; ++step) {
    const double had = learning_rate(was.optimizer, was.model.d_model, step);
    const double has = learning_rate(is.optimizer, was.model.d_model, step);
    if (had == has) continue;
    refuse(fmt::format("with its config step {} would have had the learning rate {:.4g} instead of "
                       "{:.4g}: no config would describe it.",
                       step, has, had),
           fmt::format("a later --max-steps or a smaller optimizer.decay_fraction; --checkpoint "
                       "with one from before step {}; and a stem whose rate stays until it falls "
                       "(optimizer.schedule wsd), with learning_rate and warmup_steps as they are",
                       step));
  }
}

}  // namespace

RunResult branch_run(const ResumeRequest& request, Log& log) {
  if (holds(request.run, request.branch) || holds(request.branch, request.run))
    throw Error(
        Exit::usage,
        fmt::format("the branch {} and the run {} overlap; a branch leaves its run as it is.",
                    quoted_path(request.branch), quoted_path(request.run)),
        "--branch with a folder beside it");
  RunWriter::require_free(request.branch, request.force);
  const StoredRun stem = read_stored_run(request, request.run, beginning(request), log);
  const std::int64_t step = stem.steps_done();
  check_steps_done(stem, request.run);
  const std::vector<Checkpoint> earlier = earlier_ones(stem.folder, stem.checkpoint->state(), log);
  for (const std::string& change : stem.changes) log.info("changed: " + change);

  Origin origin = stem.origin;
  const std::string core_type = origin.core_type;
  const PreparedRun prepared = prepare_stored_run(stem, request.threads);
  watch_signals();

  std::error_code none;
  fs::path text;
  if (!origin.folder.empty()) origin.folder = fs::absolute(origin.folder).lexically_normal();
  if (fs::equivalent(origin.folder, request.run, none) && fs::exists(stem.folder / kRunText)) {
    origin.folder = ".";  // heed train -: the run keeps its text
    text = stem.folder / kRunText;
  }
  origin.hash = prepared.data.hash;
  origin.branched_from = request.run;
  origin.branched_at = step;
  origin.command = request.command;
  origin.core_type = blas_core_type();
  RunWriter run = RunWriter::create(request.branch, request.force,
                                    {origin_json(origin), dump_config(stem.config), text});

  return with_errors_in_log(run, log, [&] {
    return train_to_the_end(prepared, request, run, log, [&](Trainer& trainer) {
      say_cut(log, {.kept = run.copy_metrics(request.run, step).kept}, step);
      say_core_type(core_type, step, run, log);
      const std::string said = fmt::format("branched from {} at step {}", request.run, step);
      run.append_metrics(event_metrics(step, "branch", said));
      for (const Checkpoint& checkpoint : earlier) trainer.adopt(checkpoint);
      trainer.adopt(*stem.checkpoint);
      log.info(said);
    });
  });
}

}  // namespace heed
