// What is stored of a run that is to be continued.
#include "train/resume.h"

#include <fmt/core.h>

#include "base/files.h"
#include "base/format.h"
#include "base/input_file.h"
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

void load_data(StoredRun& run, const RunConfig& config, Log& log) {
  run.origin = read_origin(run.folder);
  if (run.origin.folder.empty())
    log.warn("origin.json does not say where the run began: its data is looked for from here");
  if (run.checkpoint)
    run.tokenizers = Tokenizers::load(run.checkpoint->tokenizers, run.checkpoint->folder);
  const DataPlace place = data_place(config, run.folder, run.origin);
  if (!place.moved.empty()) log.info(place.moved);
  run.data = load_dataset(place.config, place.folder, run.tokenizers);
  refuse_other_data(run);
  if (run.checkpoint) refuse_cursor_beyond_data(run, config);
}

}  // namespace heed
