// heed resume: continues a run exactly where its newest whole checkpoint stopped; with --branch
// from there, or from a step that is named, in a folder of its own, to another end.
//
// Saved steps are never undone. Where the rate falls at the end (optimizer.decay_steps "end", wsd's
// default), it falls at the new end. If steps done would have had another rate with it, the run
// stays as it is, and its branch NAME-2 goes on from the newest checkpoint from before them:
// usually that at which the fall began, which every save spares. So the branch is the run that its
// config would have given from the first step.
//
// So one long run, the stem, can have many ends: each branch falls from a checkpoint of the stem to
// its own last step. With --branch the stem, which may still be training, is only read.
// The branch starts as a copy of the stem at that step, and is then a run like any other: its
// weights are byte for byte those that its config would give from the first step, if the stem's
// config never changed. So both configs must agree on the learning rate of every step already done,
// and on clip_norm.
//
//   resume_run (resume)
//     read_stored_run (stored_run) > changed_config > load_data   what is there, and what is asked
//     resumed or branched (resume) > go (training_run)
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/std_names.h"
#include "store/checkpoint.h"
#include "store/run.h"
#include "train/training_run.h"

namespace heed {

struct ResumeRequest : RunRequest {
  int64_t max_steps = 0;  // 0: unchanged
  int64_t more = 0;       // steps after the planned end (or the last step, if that is later)
  double minutes = 0;     // the same, as many as take so long at the speed so far
  string branch;          // folder of the new run, or empty
  string checkpoint;      // where the branch begins; empty: at the newest
};

// Errors before a training begins leave the run as it was. Error (usage) if a branch's config does
// not fit the steps done or, as heed train, if its folder is taken, or if a run that would get a
// branch has one that is still to be finished, or that ends at the end asked for or later.
RunResult resume_run(const ResumeRequest& request, Log& log);

// A stored run as a resume or a branch finds it.
struct StoredRun {
  fs::path folder;
  optional<Checkpoint> checkpoint;    // where it goes on; none: the run has not saved yet
  vector<DamagedCheckpoint> damaged;  // newer ones
  GivenKeys written;  // config.json, which the user asked for; the checkpoint's if that is damaged
  RunConfig asked;    // the same
  RunConfig trained;  // the config of the steps done
  // Read by load_data(); data and tokenizers go to the prepared run.
  Origin origin;
  Tokenizers tokenizers;
  Dataset data;

  int64_t steps_done() const { return checkpoint ? checkpoint->state.step : 0; }
};

// Warns of damaged checkpoints that it skips. Error (store) if only those are left, or if the
// folder holds no run.
StoredRun read_stored_run(const fs::path& folder, NewestCheckpoint newest, Log& log);

// Reads the data of `config`, with the run's tokenizers. Error (data) if it is not that of the
// steps done.
void load_data(StoredRun& run, const RunConfig& config, Log& log);

void say_skipped(const NewestCheckpoint& newest, Log& log);

}  // namespace heed
