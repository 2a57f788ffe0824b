#include "train/branch.h"

#include <fmt/core.h>

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
  std::error_code unknown;
  const fs::path path =
      fs::weakly_canonical(inner, unknown).lexically_relative(fs::weakly_canonical(outer, unknown));
  return !path.empty() && *path.begin() != "..";
}

void refuse_inside(const ResumeRequest& r) {
  if (!holds(r.run, r.branch) && !holds(r.branch, r.run)) return;
  throw Error(Exit::usage,
              fmt::format("the branch {} and the run {} are one folder or one in the other; a "
                          "branch leaves its run as it is.",
                          quoted_path(r.branch), quoted_path(r.run)),
              "--branch with a folder beside it");
}

struct Stem {
  NewestCheckpoint newest;
  std::optional<Checkpoint> best;  // if it is another one
};

// Both of one moment: a run that trains meanwhile removes the best one when it finds a better one.
Stem open_stem(const fs::path& run, Log& log) {
  for (std::int64_t before = -1;;) {
    Stem stem{newest_checkpoint(run), std::nullopt};
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
    if (stem.best || state.step == before) return stem;
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

// What a branch needs so that the steps done keep their rates.
std::string what_fits(const StoredRun& stem, const OptimizerConfig& branch) {
  const OptimizerConfig& o = stem.trained.optimizer;
  const auto fits = [&](const OptimizerConfig& c) { return first_other_rate(stem, c) == 0; };
  if (branch.schedule == ScheduleType::wsd && branch.decay_fraction < 1) {
    const double done = static_cast<double>(stem.steps_done());
    OptimizerConfig later = branch, shorter = branch;
    later.decay_steps = static_cast<std::int64_t>(std::ceil(done / (1 - branch.decay_fraction)));
    if (!fits(later)) ++later.decay_steps;  // for the last bit of the division
    shorter.decay_fraction =
        std::floor(1000 * (1 - done / static_cast<double>(branch.decay_steps))) / 1000;
    if (fits(later))
      return fmt::format("--max-steps {} or more", later.decay_steps) +
             (shorter.decay_fraction > 0 && fits(shorter)
                  ? fmt::format("; or --set optimizer.decay_fraction={} or less",
                                shorter.decay_fraction)
                  : "");
  }
  if (o.schedule == ScheduleType::wsd && stem.steps_done() > full_rate_until(o))
    return fmt::format(
        "a branch from before step {}, where this run began to decay: train a stem with a larger "
        "train.max_steps",
        full_rate_until(o));
  if (decays(o) && o.schedule != ScheduleType::wsd)
    return "train the stem with --set optimizer.schedule=wsd, which keeps the rate until it decays";
  return "leave the schedule, optimizer.learning_rate and optimizer.warmup_steps as they are";
}

void refuse_other_rates(const StoredRun& stem, const RunConfig& branch, const std::string& run) {
  const std::int64_t step = first_other_rate(stem, branch.optimizer);
  if (step == 0) return;
  const auto rate = [&](const RunConfig& c) {
    return learning_rate(c.optimizer, c.model.d_model, step);
  };
  throw Error(
      Exit::usage,
      fmt::format("{} has done {} steps, and with the branch's config step {} would have "
                  "had the learning rate {:.4g} instead of {:.4g}: no config would "
                  "describe the branch.",
                  quoted_path(run), stem.steps_done(), step, rate(branch), rate(stem.trained)),
      what_fits(stem, branch.optimizer));
}

// "branched from runs/stem at step 800: decays from 800 to 1000"
std::string branched(const std::string& run, std::int64_t step, const OptimizerConfig& o) {
  std::string text = fmt::format("branched from {} at step {}", run, step);
  if (o.schedule == ScheduleType::wsd)
    text += fmt::format(": decays from {} to {}", full_rate_until(o), o.decay_steps);
  return text;
}

}  // namespace

RunResult branch_run(const ResumeRequest& request, Log& log) {
  RunWriter::require_free(request.branch, request.force);
  refuse_inside(request);
  Stem checkpoints = open_stem(request.run, log);
  const StoredRun stem = read_stored_run(request.run, std::move(checkpoints.newest), log);
  if (!stem.checkpoint)
    throw Error(Exit::store, quoted_path(request.run) + " has no checkpoint yet.",
                "wait until it saves (train.save_every)");
  const std::int64_t step = stem.steps_done();
  const RunConfig config = continued_config(stem, request, log);
  const std::vector<std::string> changes = allowed_changes(stem, config, request);
  const std::string why = nothing_to_do(config.train, stem.checkpoint->state(), request.stop_at);
  if (!why.empty())
    throw Error(Exit::usage, fmt::format("{} is {}", quoted_path(request.run), why));
  refuse_other_rates(stem, config, request.run);
  for (const std::string& change : changes) log.info("changed: " + change);

  Origin origin = origin_of(stem, log);
  const std::string core_type = origin.core_type;
  const PreparedRun prepared = prepare_stored_run(stem, config, origin, request.threads);
  const std::optional<ParamVec<float>> first = kept_initial_weights(prepared.model, request.run);
  Pool pool(prepared.threads);
  watch_signals();

  RunWriter run = RunWriter::create(request.branch, request.force);
  std::error_code none;
  fs::path text;
  if (fs::equivalent(origin.folder, request.run, none)) {  // heed train TEXT
    origin.folder = ".";
    if (fs::exists(stem.folder / "text.txt")) text = stem.folder / "text.txt";
  }
  origin.hash = prepared.data.hash;
  origin.branched_from = request.run;
  origin.branched_at = step;
  origin.command = request.command;
  origin.core_type = blas_core_type();
  run.describe(origin_json(origin), dump_config(config), text);

  log.open_file((run.path() / "train.log").string());
  return with_errors_in_log(log, [&] {
    return train_to_the_end(prepared, request, pool, run, log, [&](Trainer& trainer) {
      say_cut(log, {.kept = run.copy_metrics(request.run, step).kept}, step);
      say_core_type(core_type, step, run, log);
      const std::string said = branched(request.run, step, config.optimizer);
      run.append_metrics(event_metrics(step, "branch", said));
      if (first) trainer.start_from(*first);
      if (checkpoints.best) trainer.adopt(*checkpoints.best);
      trainer.adopt(*stem.checkpoint);
      log.info(said);
    });
  });
}

}  // namespace heed
