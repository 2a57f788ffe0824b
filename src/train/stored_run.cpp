#include "train/stored_run.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/format.h"
#include "base/input_file.h"
#include "math/blas.h"
#include "store/layout.h"
#include "store/metrics_file.h"
#include "store/trained_model.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxConfigFile = 16u << 20;

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
    read(run.checkpoint->config(), run.checkpoint->folder() / "config.json");
  }
}

// --set, --max-steps and --more go into what was asked for. In a branch the schedule ends with the
// branch unless --set says where.
RunConfig continued_config(const StoredRun& run, const ResumeRequest& request, Log& log) {
  std::vector<std::string> sets;
  if (!request.branch.empty()) sets.push_back("optimizer.decay_steps=null");
  sets.insert(sets.end(), request.sets.begin(), request.sets.end());
  if (request.max_steps > 0) sets.push_back(fmt::format("train.max_steps={}", request.max_steps));
  if (request.more > 0) {
    const std::int64_t done = run.steps_done(), end = std::max(done, run.asked.train.max_steps);
    if (end > done) log.info(fmt::format("--more counts from the planned end, step {}", end));
    sets.push_back(fmt::format("train.max_steps={}", end + request.more));
  }
  return parse_config(run.text, run.name, sets);
}

// What is another than it was. Error (usage) on what the steps already done forbid.
std::vector<std::string> allowed_changes(const StoredRun& run, const ResumeRequest& request) {
  std::vector<std::string> changes;
  for (const KeyChange& change : changed_keys(run.trained, run.config)) {
    if (change.key == "train.threads") continue;
    const std::string text = in_words(change);
    const bool of_schedule = change.on_resume == OnResume::branch;
    if (change.on_resume == OnResume::refused || (of_schedule && request.branch.empty()))
      throw Error(Exit::usage,
                  fmt::format("a resumed run cannot change {}: the steps already done would have "
                              "been different.",
                              text),
                  "heed train with --init-from " + shell_word(request.run) +
                      (of_schedule ? "; or --branch DIR, if their learning rates stay" : ""));
    changes.push_back(text);
  }
  return changes;
}

// Why there is nothing to do and what would continue the run, or "".
std::string nothing_to_do(const TrainConfig& t, const State& s, std::int64_t stop_at) {
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

}  // namespace

StoredRun read_stored_run(const ResumeRequest& request, const fs::path& folder,
                          NewestCheckpoint newest, Log& log) {
  for (const DamagedCheckpoint& d : newest.damaged) log.warn("skipped a checkpoint: " + d.reason);
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
    throw Error(Exit::store, quoted_path(request.run) + " has no checkpoint yet.",
                "wait until it saves (train.save_every)");
  run.config = continued_config(run, request, log);
  run.changes = allowed_changes(run, request);
  if (run.checkpoint)
    run.nothing_to_do = nothing_to_do(run.config.train, run.checkpoint->state(), request.stop_at);
  if (!run.nothing_to_do.empty()) return run;  // needs no data
  run.origin = read_origin(folder);
  if (run.origin.folder.empty())
    log.warn(
        "origin.json does not say where the run began: relative paths of its data are taken "
        "from the current folder");
  return run;
}

PreparedRun prepare_stored_run(const StoredRun& run, int threads) {
  Tokenizers tokenizers;
  if (run.checkpoint)
    tokenizers = Tokenizers::load(run.checkpoint->tokenizers(), run.checkpoint->folder());
  PreparedRun prepared = prepare_run(run.config, run.origin.folder, std::move(tokenizers), threads);
  refuse_other_data(prepared.data, run.checkpoint, run.origin);
  if (run.checkpoint) refuse_cursor_beyond_data(prepared, *run.checkpoint);
  return prepared;
}

// The type so far is that of the last event that names one.
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

}  // namespace heed
