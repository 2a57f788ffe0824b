// heed resume: continues a run exactly where its newest whole checkpoint stopped; with --branch in
// a folder of its own, to another end.
//
// A run is never rewound. Where the rate falls at the end (optimizer.decay_steps "end", wsd's
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
#pragma once

#include "train/stored_run.h"
#include "train/training_run.h"

namespace heed {

struct ResumeRequest {
  RunRequest run;
  std::int64_t max_steps = 0;  // 0: unchanged
  std::int64_t more = 0;       // steps after the planned end (or the last step, if that is later)
  double minutes = 0;          // the same, as many as take so long at the speed so far
  std::string branch;          // folder of the new run, or empty
  std::string checkpoint;      // where the branch begins; empty: at the newest
};

// Errors leave every checkpoint as it was, and are logged in train.log too, unless a later end is
// asked for. Error (usage) if a branch's config does not fit the steps done or, as heed train, if
// its folder is taken, or if a run that would get a branch has one that is still to be finished, or
// that ends at the end asked for or later.
RunResult resume_run(const ResumeRequest& request, Log& log);
RunResult branch_run(const ResumeRequest& request, Log& log);  // in branch.cpp

// A run at the checkpoint from which a branch goes on. `newest`: at the newest that there is, so
// that a newer one may be taken where the run is still training.
struct Stem : StoredRun {
  std::vector<Checkpoint> earlier;  // the first weights, if the run keeps them, and the best ones
};
Stem stem_at(const std::string& run, NewestCheckpoint at, Log& log);
// Goes on from there in the new folder `branch`, with this config. `data`: of the run.
RunResult branch_off(const RunRequest& request, const std::string& branch, Stem stem,
                     const RunConfig& config, StoredData data, Log& log);

// The end that --max-steps, --more or --minutes asks for, as keys of the config; none if none does.
// How it is counted, for the log. `data`: of the run.
struct NewEnd {
  GivenKeys keys = {};
  std::vector<std::string> notes = {};
};
NewEnd new_end(const ResumeRequest& request, const StoredRun& run, const Dataset& data);

}  // namespace heed
