#include "train/branch.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/files.h"
#include "base/signals.h"
#include "math/blas.h"
#include "store/initial_weights.h"
#include "store/run_folder.h"
#include "train/run_messages.h"
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

void refuse_inside(const ResumeRequest& r) {
  if (!holds(r.run, r.branch) && !holds(r.branch, r.run)) return;
  throw Error(Exit::usage,
              fmt::format("the branch {} and the run {} overlap; a branch leaves its run as it is.",
                          quoted_path(r.branch), quoted_path(r.run)),
              "--branch with a folder beside it");
}

struct Stem {
  NewestCheckpoint newest;
  std::optional<Checkpoint> best;  // if it is another one
};

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

// Both of one moment: a run that trains meanwhile removes the best one when it finds a better one.
Stem open_stem(const ResumeRequest& request, Log& log) {
  const fs::path run = request.run;
  for (std::int64_t before = -1;;) {
    Stem stem{beginning(request), std::nullopt};
    if (!stem.newest.checkpoint) return stem;
    const State& state = stem.newest.checkpoint->state();
    if (state.best_step < 0 || state.best_step == state.step) return stem;
    try {
      stem.best = open_if_there(run / "checkpoints" / step_folder_name(state.best_step));
    } catch (const NoPermission&) {
      throw;
    } catch (const Error& e) {
      log.warn(fmt::format("the branch begins without a best checkpoint: {}", e.what()));
      return stem;
    }
    if (stem.best) return stem;
    if (state.step == before) {
      log.warn(fmt::format("the branch begins without a best checkpoint: that of step {} is gone",
                           state.best_step));
      return stem;
    }
    before = state.step;
  }
}

// The first step done that this config would have given another learning rate, or 0.
std::int64_t first_other_rate(const StoredRun& stem, const OptimizerConfig& branch) {
  const RunConfig& c = stem.trained;
  for (std::int64_t step = 1; step <= stem.steps_done(); ++step)
    if (learning_rate(c.optimizer, c.model.d_model, step) !=
        learning_rate(branch, c.model.d_model, step))
      return step;
  return 0;
}

// "--checkpoint step-100, which is before that; or "; nothing where no checkpoint could be.
std::string earlier_checkpoint(const fs::path& run, std::int64_t step) {
  const std::vector<std::int64_t> steps = list_steps(run);
  const auto after = std::ranges::lower_bound(steps, step);
  if (after == steps.begin())
    return step > 1 ? fmt::format(
                          "a checkpoint from before step {}, of which train.keep_last has "
                          "left none; or ",
                          step)
                    : "";
  return fmt::format("--checkpoint step-{}, which is before that; or ", *std::prev(after));
}

// What a branch needs so that the steps done keep their rates.
std::string what_fits(const StoredRun& stem, OptimizerConfig branch) {
  if (branch.schedule == ScheduleType::wsd && branch.decay_fraction < 1) {
    const double done = static_cast<double>(stem.steps_done());
    branch.decay_steps = static_cast<std::int64_t>(std::ceil(done / (1 - branch.decay_fraction)));
    while (full_rate_until(branch) < stem.steps_done()) ++branch.decay_steps;  // the last bit
    if (first_other_rate(stem, branch) == 0)
      return fmt::format("--max-steps {} or more; or a smaller optimizer.decay_fraction",
                         branch.decay_steps);
  }
  return "a stem whose rate stays (optimizer.schedule wsd) and has not begun to fall; and the "
         "schedule, optimizer.learning_rate and optimizer.warmup_steps as they are";
}

void refuse_other_rates(const StoredRun& stem, const std::string& run) {
  const std::int64_t step = first_other_rate(stem, stem.config.optimizer);
  if (step == 0) return;
  const auto rate = [&](const RunConfig& c) {
    return learning_rate(c.optimizer, c.model.d_model, step);
  };
  throw Error(
      Exit::usage,
      fmt::format("the branch begins at step {} of {}, and with its config step {} would have had "
                  "the learning rate {:.4g} instead of {:.4g}: no config would describe it.",
                  stem.steps_done(), quoted_path(run), step, rate(stem.config), rate(stem.trained)),
      earlier_checkpoint(run, step) + what_fits(stem, stem.config.optimizer));
}

void refuse_other_clipping(const StoredRun& stem, const std::string& run) {
  const double was = stem.trained.optimizer.clip_norm, is = stem.config.optimizer.clip_norm;
  if (was == is) return;
  throw Error(Exit::usage,
              fmt::format("the branch begins at step {} of {}, which had optimizer.clip_norm {}, "
                          "and its config has {}: no config would describe it.",
                          stem.steps_done(), quoted_path(run), was, is),
              fmt::format("--set optimizer.clip_norm={}", was));
}

// Those of --init-from, to compare with.
std::optional<ParamVec<float>> first_weights(const Transformer& model, const std::string& run,
                                             Log& log) {
  try {
    return kept_initial_weights(model, run);
  } catch (const Error& e) {
    log.warn(e.text());
    return std::nullopt;
  }
}

// "branched from runs/stem at step 800: decays from 800 to 1000"
std::string branched(const std::string& run, std::int64_t step, const RunConfig& c) {
  const OptimizerConfig& o = c.optimizer;
  const std::int64_t end = c.train.max_steps;
  std::string text = fmt::format("branched from {} at step {}", run, step);
  if (o.schedule == ScheduleType::wsd && (end == 0 || full_rate_until(o) < end))
    text += fmt::format(": decays from {} to {}", full_rate_until(o), o.decay_steps);
  return text;
}

// A last step that is not validated with the others never becomes the best.
void say_if_not_validated(const TrainConfig& t, Log& log) {
  const Interval every = t.eval_every;
  if (every.epochs || every.count == 0 || t.max_steps % every.count == 0) return;
  log.warn(
      fmt::format("step {} is no multiple of train.eval_every ({}), so the branch's end will "
                  "not be its best checkpoint: --max-steps {}, or use --checkpoint last",
                  t.max_steps, every.count, (t.max_steps / every.count + 1) * every.count));
}

}  // namespace

RunResult branch_run(const ResumeRequest& request, Log& log) {
  refuse_inside(request);
  RunWriter::require_free(request.branch, request.force);
  Stem checkpoints = open_stem(request, log);
  const StoredRun stem = read_stored_run(request, request.run, std::move(checkpoints.newest), log);
  const std::int64_t step = stem.steps_done();
  const RunConfig& config = stem.config;
  if (config.train.max_steps > 0 && config.train.max_steps <= step)
    throw Error(
        Exit::usage,
        fmt::format("the branch begins at step {} of {}, and train.max_steps is {}.", step,
                    quoted_path(request.run), config.train.max_steps),
        fmt::format("--max-steps greater than {}, or --checkpoint with an earlier step", step));
  if (!stem.nothing_to_do.empty())
    throw Error(Exit::usage, fmt::format("{} is {}", quoted_path(request.run), stem.nothing_to_do));
  refuse_other_rates(stem, request.run);
  refuse_other_clipping(stem, request.run);
  if (config.data.has_validation()) say_if_not_validated(config.train, log);
  for (const std::string& change : stem.changes) log.info("changed: " + change);

  Origin origin = origin_of(stem, log);
  const std::string core_type = origin.core_type;
  const PreparedRun prepared = prepare_stored_run(stem, origin, request.threads);
  const std::optional<ParamVec<float>> first = first_weights(prepared.model, request.run, log);
  Pool pool(prepared.threads);
  watch_signals();

  RunWriter run = RunWriter::create(request.branch, request.force);
  std::error_code none;
  fs::path text;
  if (!origin.folder.empty()) origin.folder = fs::absolute(origin.folder).lexically_normal();
  if (fs::equivalent(origin.folder, request.run, none) && fs::exists(stem.folder / "text.txt")) {
    origin.folder = ".";  // heed train -: the run keeps its text
    text = stem.folder / "text.txt";
  }
  origin.hash = prepared.data.hash;
  origin.branched_from = request.run;
  origin.branched_at = step;
  origin.command = request.command;
  origin.core_type = blas_core_type();
  run.describe(origin_json(origin), dump_config(config), text);

  return with_errors_in_log(run, log, [&] {
    return train_to_the_end(prepared, request, pool, run, log, [&](Trainer& trainer) {
      say_cut(log, {.kept = run.copy_metrics(request.run, step).kept}, step);
      say_core_type(core_type, step, run, log);
      const std::string said = branched(request.run, step, config);
      run.append_metrics(event_metrics(step, "branch", said));
      if (first) trainer.start_from(*first);
      if (checkpoints.best) trainer.adopt(*checkpoints.best);
      trainer.adopt(*stem.checkpoint);
      log.info(said);
    });
  });
}

}  // namespace heed
