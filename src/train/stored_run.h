// A stored run as a resume or a branch finds it, and the config with which it would go on.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "base/log.h"
#include "store/checkpoint.h"
#include "store/origin.h"
#include "train/prepared_run.h"
#include "train/resume.h"

namespace heed {

struct StoredRun {
  std::filesystem::path folder;
  std::optional<Checkpoint> checkpoint;    // where it goes on; none: the run has not saved yet
  std::vector<DamagedCheckpoint> damaged;  // newer ones
  GivenKeys written;  // config.json, which the user asked for; the checkpoint's if that is damaged
  RunConfig asked;    // the same
  RunConfig trained;  // the config of the steps done
  // Read by load_data(); data and tokenizers go to the prepared run.
  Origin origin;
  Tokenizers tokenizers;
  Dataset data;

  std::int64_t steps_done() const { return checkpoint ? checkpoint->state().step : 0; }
};

// Warns of damaged checkpoints that it skips. Error (store) if only those are left, or if the
// folder holds no run.
StoredRun read_stored_run(const std::filesystem::path& folder, NewestCheckpoint newest, Log& log);

// `written` with these changes. Error (usage) on a key that would have changed the steps done.
RunConfig changed_config(const StoredRun& run, const GivenKeys& changes);

[[noreturn]] void refuse_change(const StoredRun& run, const KeyChange& change,
                                const std::string& hint);

// Has another path of the data been given?
bool names_other_files(const StoredRun& run, const RunConfig& config);

// Reads the data of `config`, with the run's tokenizers. Error (data) if it is not that of the
// steps done.
void load_data(StoredRun& run, const RunConfig& config, Log& log);

// The end that --max-steps, --more or --minutes asks for, as keys of the config; none if none does.
// How it is counted becomes a note of the run's data.
GivenKeys new_end(const ResumeRequest& request, StoredRun& run);

// Logs what changes, and prepares the run.
PreparedRun prepare_stored_run(StoredRun& run, const RunConfig& config, const RunRequest& request,
                               Log& log);

// Why a run with this config has nothing to do from there, else "".
std::string nothing_to_do(const StoredRun& run, const TrainConfig& config, std::int64_t stop_at);

void say_skipped(const NewestCheckpoint& newest, Log& log);

// The first of the steps done that has another learning rate in one of two configs, else 0.
std::int64_t first_other_rate(const RunConfig& was, const RunConfig& is, std::int64_t done);

// In branch.cpp: goes on from where `stem` stands in the new folder `branch`.
RunResult branched(StoredRun& stem, const RunConfig& config, const RunRequest& request,
                   const std::string& branch, Log& log);
RunResult branch_run(const ResumeRequest& request, Log& log);

}  // namespace heed
