// heed resume: continues a run exactly where its newest whole checkpoint stopped; with a branch
// (train/branch.h) in another run.
#pragma once

#include "train/training_run.h"

namespace heed {

struct ResumeRequest : RunRequest {
  std::int64_t max_steps = 0;  // 0: as it is
  std::int64_t more = 0;       // steps after the planned end (or the last step, if that is later)
  std::string branch;          // folder of the new run, or empty
  std::string checkpoint;      // of a branch: where it begins; empty: at the newest
};

// Errors leave every checkpoint as it was, and are logged in train.log too.
RunResult resume_run(const ResumeRequest& request, Log& log);

}  // namespace heed
