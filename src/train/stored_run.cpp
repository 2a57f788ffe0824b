// What is stored of a run that is to be continued, and the config with which it goes on.
#include "train/resume.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/files.h"
#include "base/format.h"
#include "base/input_file.h"
#include "base/signals.h"
#include "base/std_names.h"
#include "store/model.h"
#include "store/run_folder.h"

namespace heed {
namespace {

void read_asked(StoredRun& run, Log& log) {
  const fs::path path = run.folder / kConfigFile;
  const auto read = [&](const string& text, const fs::path& name) {
    run.written = parse_keys(text, name.string());
    run.asked = resolved(run.written);
  };
  try {
    if (!is_listed(path)) throw store_error("{}: it is missing", path.string());
    read(read_file(path, kMaxConfigFile), path);
  } catch (const Unreadable&) {
    throw;
  } catch (const Error& e) {
    if (!run.checkpoint) throw e.as(Exit::store);
    log.warn(fmt::format("continuing with the checkpoint's config: {}", e.what()));
    read(run.checkpoint->config, run.checkpoint->folder / kConfigFile);
  }
}

// The data must be that of the steps already done or, before the first checkpoint, of the start.
void refuse_other_data(const StoredRun& run) {
  const string found = run.data.hash.all();
  const bool saved = run.checkpoint.has_value();
  const string expected = saved ? run.checkpoint->state.data_hash : run.origin.hash.all();
  if (found == expected || (expected.empty() && !saved)) return;
  throw data_error(
      "the data (training or held-out) is not what this run was trained on: "
      "its SHA-256 is {:.12}..., {} says {:.12}...",
      found, saved ? "the checkpoint" : kOriginFile, expected)
      .hint("restore the file, or train a new run");
}

// Training never reaches such a cursor: an epoch takes at least one step.
void refuse_cursor_beyond_data(const StoredRun& run, const RunConfig& config) {
  const State& state = run.checkpoint->state;
  const auto [epoch, index] = state.cursor;
  if (epoch > state.step ||
      (index > 0 && index >= make_objective(config)->count(run.data.train, epoch)))
    throw store_error("{}: epoch {}, example {} is beyond the data",
                      (run.checkpoint->folder / kStateFile).string(), epoch, index);
}

// Those that the steps done know of.
vector<KeyChange> changes_of(const RunConfig& trained, const RunConfig& config) {
  vector<KeyChange> changes = changed_keys(trained, config);
  erase_if(changes, [](const KeyChange& change) {
    return ranges::any_of(kOfThisProcess, [&](string key) { return change.key == "train." + key; });
  });
  return changes;
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

}  // namespace

void say_skipped(const NewestCheckpoint& newest, Log& log) {
  for (const DamagedCheckpoint& d : newest.damaged) log.warn("skipped a checkpoint: " + d.reason);
}

StoredRun read_stored_run(const fs::path& folder, NewestCheckpoint newest, Log& log) {
  say_skipped(newest, log);
  if (!newest.checkpoint && !newest.damaged.empty())
    throw store_error(
        "no checkpoint of {} is whole; starting at step 0 would overwrite what is left of them.",
        quoted_path(folder))
        .hint("restore a copy, or train a new run");
  StoredRun run;
  run.folder = folder;
  run.checkpoint = std::move(newest.checkpoint);
  run.damaged = std::move(newest.damaged);
  read_asked(run, log);
  run.trained = run.checkpoint ? checkpoint_config(*run.checkpoint) : run.asked;
  return run;
}

RunConfig changed_config(const StoredRun& run, const GivenKeys& changes) {
  RunConfig config = resolved(changed(run.written, changes));
  vector<KeyChange> all = changes_of(run.trained, config);
  // A refusal names what the user gave rather than what follows from it.
  std::stable_partition(all.begin(), all.end(),
                        [&](const KeyChange& c) { return changes.contains(c.key); });
  for (const KeyChange& change : all)
    if (change.on_resume == OnResume::refused)
      throw usage_error(
          "a resumed run cannot change {}: the steps already done would have been different.",
          in_words(change))
          .hint("heed train with --init-from " + shell_word(run.folder.string()));
  return config;
}

bool names_other_files(const StoredRun& run, const RunConfig& config) {
  return ranges::any_of(changed_keys(run.asked, config),
                        [](const KeyChange& c) { return c.key.starts_with("data."); });
}

void load_data(StoredRun& run, const RunConfig& config, Log& log) {
  run.origin = read_origin(run.folder);
  if (run.origin.folder.empty())
    log.warn(
        "origin.json does not say where the run began: paths of its data are taken from the "
        "current folder");
  if (run.checkpoint)
    run.tokenizers = Tokenizers::load(run.checkpoint->tokenizers, run.checkpoint->folder);
  const DataPlace place = data_place(config, run.folder, run.origin);
  if (!place.moved.empty()) log.info(place.moved);
  run.data = load_dataset(place.config, place.folder, run.tokenizers);
  refuse_other_data(run);
  if (run.checkpoint) refuse_cursor_beyond_data(run, config);
}

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
  if (asked.max_epochs > 0 && !request.run.given.contains("train.max_epochs"))
    keys.keys["train.max_epochs"] = option;
  return keys;
}

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

PreparedRun prepare_stored_run(StoredRun& run, const RunConfig& config, const RunRequest& request,
                               Log& log) {
  for (const KeyChange& change : changes_of(run.trained, config))
    log.info("changed: " + in_words(change));
  PreparedRun prepared = prepare_run(config, std::move(run.data), std::move(run.tokenizers),
                                     request.threads, request.crew);
  watch_signals();
  return prepared;
}

}  // namespace heed
