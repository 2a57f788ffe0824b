// heed resume: continues a run exactly where its newest whole checkpoint stopped; with --branch in
// a folder of its own, to another end.
//
// Where the rate falls at the end (optimizer.decay_steps "end", wsd's default), it falls at the new
// end. If it has begun to fall, the run is set aside as NAME.old-K (store/set_aside.h), goes back
// to the checkpoint at which the fall began, which every save spares, and is resumed there. So it
// becomes the run that its new config would have given from the first step.
//
// So one long run, the stem, can have many ends: each branch falls from a checkpoint of the stem,
// usually the newest, to its own last step. The stem, which may still be training, is only read.
// The branch starts as a copy of the stem at that step, and is then a run like any other: its
// weights are byte for byte those that its config would give from the first step, if the stem's
// config never changed. So both configs must agree on the learning rate of every step already done,
// and on clip_norm.
#pragma once

#include "train/training_run.h"

namespace heed {

struct StoredRun;

struct ResumeRequest {
  RunRequest run;
  std::int64_t max_steps = 0;  // 0: unchanged
  std::int64_t more = 0;       // steps after the planned end (or the last step, if that is later)
  double minutes = 0;          // the same, as many as take so long at the speed so far
  std::string branch;          // folder of the new run, or empty
  std::string checkpoint;      // where the branch begins; empty: at the newest
};

// Errors leave every checkpoint as it was, and are logged in train.log too. Error (usage) if a
// branch's config does not fit the steps done or, as heed train, if its folder is taken.
RunResult resume_run(const ResumeRequest& request, Log& log);
RunResult branch_run(const ResumeRequest& request, Log& log);  // in branch.cpp

// The end that --max-steps, --more or --minutes asks for, as keys of the config; none if none does.
// Logs how it is counted. `data`: of the run.
GivenKeys new_end(const ResumeRequest& request, const StoredRun& run, const Dataset& data,
                  Log& log);

}  // namespace heed
