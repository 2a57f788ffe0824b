#include "train/resume.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/files.h"
#include "base/format.h"
#include "base/input_file.h"
#include "base/signals.h"
#include "math/blas.h"
#include "store/metrics_file.h"
#include "store/open_checkpoint.h"
#include "store/origin.h"
#include "store/trained_model.h"
#include "train/run_messages.h"
#include "train/schedule.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxConfigFile = 16u << 20;

// What the run's config.json asks for or, where that is damaged, the checkpoint's.
struct Asked {
  std::string text, name;
  RunConfig config;
};

Asked read_asked(const fs::path& run, const std::optional<Checkpoint>& checkpoint, Log& log) {
  const fs::path path = run / "config.json";
  if (!checkpoint && !fs::exists(path))
    throw Error(
        Exit::store,
        fmt::format("the run {} has neither a checkpoint nor a config.json: its start failed.",
                    quoted_path(run)),
        "remove it and train again");
  const auto asked = [](const std::string& text, const fs::path& name) {
    return Asked{text, name.string(), parse_config(text, name.string())};
  };
  try {
    return asked(read_file(path, kMaxConfigFile), path);
  } catch (const Error& e) {
    if (!checkpoint) throw e.as(Exit::store);
    log.warn(fmt::format("continuing with the checkpoint's config: {}", e.what()));
    return asked(checkpoint->config(), checkpoint->folder() / "config.json");
  }
}

// The changes to report. Error (usage) on one that the steps already done forbid.
std::vector<std::string> allowed_changes(const RunConfig& before, const RunConfig& after,
                                         const std::string& run) {
  std::vector<std::string> changes;
  for (const KeyChange& change : changed_keys(before, after)) {
    if (change.key == "train.threads") continue;
    const std::string text =
        fmt::format("{} from {} to {}", change.key, change.before, change.after);
    if (change.on_resume == OnResume::refused)
      throw Error(Exit::usage,
                  fmt::format("a resumed run cannot change {}: the steps already done would have "
                              "been different.",
                              text),
                  "heed train with --init-from " + shell_word(run));
    changes.push_back(text);
  }
  return changes;
}

constexpr const char* kNoRate =
    "; the schedule has ended, and with it the learning rate is 0: add, for example, "
    "--set optimizer.min_learning_rate=1e-4";

// Why there is nothing to do and what would continue the run, or "".
std::string already(const TrainConfig& t, const State& s, std::int64_t stop_at) {
  if (t.max_steps > 0 && s.step >= t.max_steps)
    return fmt::format("already at step {}{}{}; nothing to do; --more N continues for N steps",
                       s.step, s.step > t.max_steps ? ", past train.max_steps " : " of ",
                       t.max_steps);
  if (t.max_epochs > 0 && s.cursor.epoch >= t.max_epochs)
    return fmt::format(
        "already at step {}, the end of epoch {} of {}; nothing to do; --set train.max_epochs=N "
        "continues",
        s.step, s.cursor.epoch, t.max_epochs);
  if (t.patience > 0 && s.stalled >= t.patience)
    return fmt::format(
        "already stopped early at step {}; nothing to do; --set train.patience=N, greater or 0, "
        "continues",
        s.step);
  if (stop_at > 0 && s.step >= stop_at)
    return fmt::format(
        "already at step {}, {} --stop-at {}; nothing to do; a later --stop-at continues", s.step,
        s.step > stop_at ? "past" : "that of", stop_at);
  return "";
}

// The newest whole checkpoint, or nothing if there is none at all. Names the damaged ones.
std::optional<Checkpoint> open_newest(const fs::path& run, Log& log) {
  NewestCheckpoint newest = newest_checkpoint(run);
  for (const DamagedCheckpoint& d : newest.damaged) log.warn("skipped a checkpoint: " + d.reason);
  if (!newest.checkpoint && !newest.damaged.empty())
    throw Error(
        Exit::store,
        fmt::format(
            "no checkpoint of {} is whole; starting at step 0 would overwrite what is left of "
            "them.",
            quoted_path(run)),
        "the warnings above say what is wrong with each; restore a copy, or train a new run");
  return std::move(newest.checkpoint);
}

// Without a checkpoint a run starts again, which needs the weights it was given.
void refuse_lost_weights(const fs::path& run, const Origin& origin) {
  if (origin.init_from.empty()) return;
  throw Error(
      Exit::store,
      fmt::format("the run {} should begin with the weights of {}, but was stopped before its "
                  "first checkpoint.",
                  quoted_path(run), quoted_path(origin.init_from)),
      "train it again, with --force: " + origin.command);
}

// The data must be that of the steps already done, or else that of the start.
void refuse_other_data(const Dataset& data, const std::optional<Checkpoint>& checkpoint,
                       const Origin& origin) {
  const std::string found = data.hash.all();
  const std::string expected = checkpoint ? checkpoint->state().data_hash : origin.hash.all();
  if (found == expected || (expected.empty() && !checkpoint)) return;
  throw Error(Exit::data,
              fmt::format("the data (training or held-out) is not what this run was trained on: "
                          "its SHA-256 is {:.12}..., {} says {:.12}...",
                          found, checkpoint ? "the checkpoint" : "origin.json", expected),
              checkpoint ? "restore the file, or train a new run with --init-from"
                         : "restore the file, or train a new run");
}

// Training never gets to such a cursor: an epoch takes at least one step.
void refuse_cursor_beyond_data(const PreparedRun& run, const Checkpoint& checkpoint) {
  const Cursor at = checkpoint.state().cursor;
  const bool inside =
      at.epoch <= checkpoint.state().step &&
      (at.index == 0 || at.index < make_objective(run.config)->count(run.data.train, at.epoch));
  if (inside) return;
  throw Error(
      Exit::store,
      fmt::format("{}: epoch {}, example {} is beyond the data",
                  (checkpoint.folder() / "state.json").string(), at.epoch, at.index),
      "restore a copy; or move this checkpoint's folder away to resume from the one before");
}

// The same bytes are promised on one type of processor: OpenBLAS has other kernels for others. The
// type so far is that of the last event that names one.
void say_core_type(const std::string& of_start, std::int64_t step, RunWriter& run, Log& log) {
  const std::string here = blas_core_type();
  std::string before = of_start;
  for_each_event(run.path(), [&](const nlohmann::ordered_json& event) {
    const auto type = event.find("core_type");
    if (type != event.end() && type->is_string()) before = *type;
  });
  if (before.empty() || before == here) return;
  const std::string text = fmt::format(
      "the run was on a processor of type {} and continues on one of type {} (OpenBLAS's names): "
      "its last digits will differ from those of one that did not change",
      before, here);
  log.warn(text);
  run.append_metrics(event_metrics(step, "resume", text, here));
}

RunResult resume_opened(const ResumeRequest& request, RunWriter& run, Log& log) {
  const std::optional<Checkpoint> checkpoint = open_newest(run.path(), log);
  const std::int64_t done = checkpoint ? checkpoint->state().step : 0;

  // The run's config.json holds what the user asked for, the checkpoint's what was trained.
  const Asked asked = read_asked(run.path(), checkpoint, log);
  const RunConfig before = checkpoint ? checkpoint_config(*checkpoint) : asked.config;
  std::vector<std::string> sets = request.sets;
  if (request.max_steps > 0) sets.push_back(fmt::format("train.max_steps={}", request.max_steps));
  if (request.more > 0) {
    const std::int64_t end = std::max(done, asked.config.train.max_steps);
    if (end > done) log.info(fmt::format("--more counts from the planned end, step {}", end));
    sets.push_back(fmt::format("train.max_steps={}", end + request.more));
  }
  const RunConfig config = parse_config(asked.text, asked.name, sets);
  const std::vector<std::string> changes = allowed_changes(before, config, request.run);
  const bool schedule_has_ended =
      learning_rate(config.optimizer, config.model.d_model, done + 1) == 0;
  if (checkpoint) {
    const std::string why = already(config.train, checkpoint->state(), request.stop_at);
    if (!why.empty()) {
      run.finish_save(checkpoint->state(), config.train.keep_last);
      say_cut(log, run.cut_metrics(done), done);
      log.info(why + (schedule_has_ended ? kNoRate : ""));
      return {Exit::ok, run.path().string(), "already_done", checkpoint->state(),
              seconds_now() - request.begin};
    }
  }
  const Origin origin = read_origin(request.run);
  if (origin.folder.empty())
    log.warn(
        "origin.json does not say where the run began: relative paths of its data are taken "
        "from the current folder");
  if (!checkpoint) {
    refuse_lost_weights(run.path(), origin);
    log.info("no checkpoint yet: starting at step 0");
  }
  for (const std::string& change : changes) log.info("changed: " + change);
  const std::int64_t planned = asked.config.train.max_steps;
  if (config.train.max_steps > 0 && config.train.max_steps < planned)
    log.warn(fmt::format("the run now ends before step {}; --stop-at keeps that plan", planned));

  Tokenizers tokenizers;
  if (checkpoint) tokenizers = Tokenizers::load(checkpoint->tokenizers(), checkpoint->folder());
  const PreparedRun prepared =
      prepare_run(config, origin.folder, std::move(tokenizers), request.threads);
  refuse_other_data(prepared.data, checkpoint, origin);
  if (checkpoint) refuse_cursor_beyond_data(prepared, *checkpoint);
  Pool pool(prepared.threads);
  watch_signals();

  return train_to_the_end(prepared, request, pool, run, log, [&](Trainer& trainer) {
    if (checkpoint) {
      trainer.restore(*checkpoint);
      run.finish_save(checkpoint->state(), config.train.keep_last);
    }
    const MetricsCut cut = run.cut_metrics(done);
    say_cut(log, cut, done);
    if (!checkpoint && cut.kept == 0)  // killed before it was written
      run.append_metrics(event_metrics(0, "start", origin.command, origin.core_type));
    run.write_config(dump_config(config));
    say_core_type(origin.core_type, done, run, log);
    log.info(fmt::format("resuming at step {}", done));
    if (schedule_has_ended) log.warn(std::string("nothing will be learnt") + kNoRate);
  });
}

}  // namespace

RunResult resume_run(const ResumeRequest& request, Log& log) {
  RunWriter run = RunWriter::open(request.run);
  log.open_file((run.path() / "train.log").string());
  return with_errors_in_log(log, [&] { return resume_opened(request, run, log); });
}

}  // namespace heed
