// A stored run as a resume or a branch finds it, and the config with which it would go on.
#pragma once

#include <filesystem>
#include <optional>

#include "base/log.h"
#include "store/checkpoint.h"
#include "store/origin.h"
#include "train/prepared_run.h"

namespace heed {

struct RunRequest;

struct StoredRun {
  std::filesystem::path folder;
  std::optional<Checkpoint> checkpoint;  // the newest whole one; none: the run has not saved yet
  GivenKeys written;  // config.json, which the user asked for; the checkpoint's if that is damaged
  RunConfig asked;    // the same
  RunConfig trained;  // the config of the steps done
  Origin origin;      // read by load_data()

  std::int64_t steps_done() const { return checkpoint ? checkpoint->state().step : 0; }
};

// Warns of damaged checkpoints that it skips. Error (store) if only those are left, or if the
// folder holds no run.
StoredRun read_stored_run(const std::filesystem::path& folder, NewestCheckpoint newest, Log& log);

// `written` with these changes. Error (usage) on a key that would have changed the steps done.
RunConfig changed_config(const StoredRun& run, const GivenKeys& changes);

[[noreturn]] void refuse_change(const StoredRun& run, const std::string& change,
                                const std::string& hint);

// Has another path of the data been given?
bool names_other_files(const StoredRun& run, const RunConfig& config);

// The data of `config`, with the run's tokenizers. Error (data) if it is not that of the steps
// done.
struct StoredData {
  Tokenizers tokenizers;
  Dataset data;
};
StoredData load_data(StoredRun& run, const RunConfig& config, Log& log);

// Logs what changes, and prepares the run.
PreparedRun prepare_stored_run(const StoredRun& run, const RunConfig& config, StoredData data,
                               const RunRequest& request, Log& log);

// Why a run with this config has nothing to do after `at`, else "".
std::string nothing_to_do(const TrainConfig& config, const State& at, std::int64_t stop_at);

void say_skipped(const NewestCheckpoint& newest, Log& log);

// The first of the steps done that has another learning rate in one of two configs, else 0.
std::int64_t first_other_rate(const RunConfig& was, const RunConfig& is, std::int64_t done);

}  // namespace heed
