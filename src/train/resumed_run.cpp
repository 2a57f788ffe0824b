// resume_run() of train/training_run.h
#include <fmt/core.h>

#include <filesystem>
#include <optional>

#include "base/clock.h"
#include "base/files.h"
#include "base/folders.h"
#include "base/format.h"
#include "base/input_file.h"
#include "base/signals.h"
#include "math/blas.h"
#include "store/origin.h"
#include "store/trained_model.h"
#include "train/learning_record.h"
#include "train/run_loop.h"
#include "train/run_messages.h"
#include "train/schedule.h"
#include "train/training_run.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxConfigFile = 16u << 20;

// What the run's config.json asks for, or else, where it is damaged, the checkpoint's.
struct Asked {
  std::string text, name;
};

Asked read_asked(const fs::path& run, const std::optional<Checkpoint>& checkpoint, Log& log) {
  const fs::path path = run / "config.json";
  if (!checkpoint && !fs::exists(path))
    throw Error(
        Exit::store,
        fmt::format("The run {} has neither a checkpoint nor a config.json: its start failed.",
                    quoted_path(run)),
        "remove it and train again");
  try {
    const Asked asked{read_file(path, kMaxConfigFile), path.string()};
    parse_config(asked.text, asked.name);
    return asked;
  } catch (const Error& e) {
    if (!checkpoint) throw Error(Exit::store, e.what());
    log.warn(fmt::format("going on with the checkpoint's config: {}", e.what()));
    return {checkpoint->config(), (checkpoint->folder() / "config.json").string()};
  }
}

// The changes to say. Error (usage) on one that the steps already done forbid.
std::vector<std::string> allowed_changes(const RunConfig& before, const RunConfig& after,
                                         const std::string& run) {
  std::vector<std::string> changes;
  for (const KeyChange& change : changed_keys(before, after)) {
    if (change.key == "train.threads") continue;
    const std::string text =
        fmt::format("{} from {} to {}", change.key, change.before, change.after);
    if (change.on_resume == OnResume::refused)
      throw Error(Exit::usage,
                  fmt::format("A resumed run cannot change {}: the steps already done would have "
                              "been others.",
                              text),
                  "heed train with --init-from " + shell_word(run));
    changes.push_back(text);
  }
  return changes;
}

// Why there is nothing to do and what would go on, or "".
std::string already(const TrainConfig& t, const State& s, std::int64_t stop_at) {
  if (t.max_steps > 0 && s.step >= t.max_steps)
    return fmt::format("already at step {}{}{}; nothing to do; --more N goes on for N steps",
                       s.step, s.step > t.max_steps ? ", past train.max_steps " : " of ",
                       t.max_steps);
  if (t.max_epochs > 0 && s.cursor.epoch >= t.max_epochs)
    return fmt::format(
        "already at step {}, the end of epoch {} of {}; nothing to do; --set train.max_epochs=N "
        "goes "
        "on",
        s.step, s.cursor.epoch, t.max_epochs);
  if (t.patience > 0 && s.stalled >= t.patience)
    return fmt::format(
        "already stopped early at step {}; nothing to do; --set train.patience=N, greater or 0, "
        "goes "
        "on",
        s.step);
  if (stop_at > 0 && s.step >= stop_at)
    return fmt::format(
        "already at step {}, {} --stop-at {}; nothing to do; a later --stop-at goes on", s.step,
        s.step > stop_at ? "past" : "that of", stop_at);
  return "";
}

// Without a checkpoint a run starts again, which needs the weights it was given.
void refuse_lost_weights(const fs::path& run, const Origin& origin) {
  if (origin.init_from.empty() && !path_exists(run / kInitialWeights)) return;
  throw Error(
      Exit::store,
      fmt::format("The run {} was to begin with the weights of {} and was stopped before its "
                  "first checkpoint.",
                  quoted_path(run),
                  origin.init_from.empty() ? "another run" : quoted_path(origin.init_from)),
      "train it again, with --force: " +
          (origin.command.empty() ? "heed train ... --init-from ..." : origin.command));
}

RunResult resume_opened(const ResumeRequest& request, RunWriter& run, Log& log) {
  const double begin = seconds_now();
  NewestCheckpoint newest = newest_checkpoint(run.path());
  const std::optional<Checkpoint>& checkpoint = newest.checkpoint;
  for (const DamagedCheckpoint& d : newest.damaged)
    log.warn("passed over a checkpoint: " + d.reason);
  if (!checkpoint && !newest.damaged.empty())
    throw Error(
        Exit::store,
        fmt::format(
            "No checkpoint of {} is whole; starting at step 0 would write over what is left of "
            "them.",
            quoted_path(run.path())),
        "the warnings above say what is wrong with each; restore a copy, or train a new run");
  // A killed save may not have come to the links, even the one of the last step.
  if (checkpoint) run.repair_links(checkpoint->state());
  const std::int64_t done = checkpoint ? checkpoint->state().step : 0;

  // The run's config.json holds what the user asked for, the checkpoint's what was trained.
  const Asked asked = read_asked(run.path(), checkpoint, log);
  const RunConfig before =
      checkpoint ? checkpoint_config(*checkpoint) : parse_config(asked.text, asked.name);
  std::vector<std::string> sets = request.sets;
  if (request.max_steps > 0) sets.push_back(fmt::format("train.max_steps={}", request.max_steps));
  if (request.more > 0) sets.push_back(fmt::format("train.max_steps={}", done + request.more));
  const RunConfig config = parse_config(asked.text, asked.name, sets);
  const std::vector<std::string> changes = allowed_changes(before, config, request.run);
  if (checkpoint) {
    const std::string why = already(config.train, checkpoint->state(), request.stop_at);
    if (!why.empty()) {
      say_cut(log, run.cut_metrics(done), done);
      log.info(why);
      return {Exit::ok, run.path().string(), "already_done", checkpoint->state(),
              seconds_now() - begin};
    }
  }
  const Origin origin = read_origin(request.run);
  if (origin.folder.empty())
    log.warn(
        "origin.json says nothing of where the run began: relative paths of its data are taken "
        "from the current folder");
  if (!checkpoint) {
    refuse_lost_weights(run.path(), origin);
    log.info("no checkpoint yet: starting at step 0");
  }
  for (const std::string& change : changes) log.info("changed: " + change);

  Tokenizers tokenizers;
  if (checkpoint) tokenizers = Tokenizers::load(checkpoint->tokenizers(), checkpoint->folder());
  const Dataset data = load_dataset(config, origin.folder, tokenizers);
  const Transformer model(config.model, tokenizers.source().size(), tokenizers.target->size());
  const int threads = thread_count(request.threads, config);
  prepare_blas(threads);
  watch_signals();

  const PreparedRun prepared{config, model, data, tokenizers, threads};
  say_start(log, prepared, plan_memory(prepared), done);
  Pool pool(threads);
  Trainer trainer(config, model, data, tokenizers, run, pool, log);
  if (checkpoint) trainer.restore(*checkpoint);
  if (request.profile) trainer.stepper().gradients().enable_profile();
  say_cut(log, run.cut_metrics(done), done);
  run.write_config(dump_config(config));
  log.info(fmt::format("resuming at step {}", done));
  if (learning_rate(config.optimizer, config.model.d_model, done + 1) == 0)
    log.warn(
        "the learning rate is 0 from here on, the schedule has ended: nothing will be learnt "
        "without --set optimizer.min_learning_rate=1e-4 or the like");
  return train_to_the_end({trainer, run, request.stop_at, request.profile, begin}, log);
}

}  // namespace

RunResult resume_run(const ResumeRequest& request, Log& log) {
  RunWriter run = RunWriter::open(request.run);
  log.open_file((run.path() / "train.log").string());
  return with_errors_in_log(log, [&] { return resume_opened(request, run, log); });
}

}  // namespace heed
