// heed resume: continues a run exactly where its newest whole checkpoint stopped; with --branch in
// a folder of its own, to another end.
//
// A schedule that stays high until it decays (wsd) lets one long run, the stem, have many ends:
// each branch decays from a checkpoint of the stem, usually the newest, to its own last step, and
// the stem, which may be training meanwhile, is only read. The branch holds what the stem knew at
// that step, and is then a run like any other: its weights are those that its config gives from the
// first step, byte for byte, if the stem's was never changed on the way. So its config must give
// every step already done the learning rate, and clip_norm, that the stem's gives it.
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

// Error (usage) where a branch's config does not fit the steps done; and as heed train if its
// folder is taken.
RunResult branch_run(const ResumeRequest& request, Log& log);

}  // namespace heed
