// A run that is to be continued, as its folder holds it: what heed resume begins with, in the run
// itself or in a branch. Nothing here writes, so a branch leaves its stem alone, which may be
// training meanwhile.
#pragma once

#include <optional>

#include "store/open_checkpoint.h"
#include "store/origin.h"
#include "train/resume.h"

namespace heed {

struct StoredRun {
  std::filesystem::path folder;
  std::optional<Checkpoint> checkpoint;  // the newest whole one; nothing: the run has not saved yet
  // The config that the user asks for: config.json or, where that is damaged, the checkpoint's.
  std::string text, name;
  RunConfig asked;    // the same, as read
  RunConfig trained;  // that of the steps done
  // The config to continue with: --set, --max-steps and --more go into what was asked for.
  RunConfig config;
  std::vector<std::string> changes;  // from `trained`, in words
  Origin origin;
  std::string nothing_to_do;  // why, and what would continue the run; or ""

  std::int64_t steps_done() const { return checkpoint ? checkpoint->state().step : 0; }
};

// Names the damaged checkpoints that are passed over. Error (store) if there are no others, if
// there is nothing at all, or nothing to branch from; Error (usage) on changes that the steps
// already done forbid.
StoredRun read_stored_run(const ResumeRequest& request, const std::filesystem::path& run,
                          NewestCheckpoint newest, Log& log);

// prepare_run() with the run's tokenizers. Error (data) on other data than that of the steps done.
PreparedRun prepare_stored_run(const StoredRun& run, int threads);

// The same bytes are promised on one type of processor: OpenBLAS has other kernels for others. A
// change is said, and logged in metrics.jsonl. `of_start`: the type that origin.json names.
void say_core_type(const std::string& of_start, std::int64_t step, RunWriter& run, Log& log);

}  // namespace heed
