// heed resume: continues a run exactly where its newest whole checkpoint stopped; with --branch in
// a folder of its own, to another end.
//
// A run of a text (heed train TEXT) keeps the checkpoint at which its rate begins to fall. With a
// new end beyond the planned one it goes back there and falls at that end instead, so that it
// becomes the run that its new config would have given from the first step. If its rate has not
// begun to fall, it simply goes on.
//
// A schedule that stays high until it decays (wsd) lets one long run, the stem, have many ends:
// each branch decays from a checkpoint of the stem, usually the newest, to its own last step. The
// stem, which may still be training, is only read. The branch starts as a copy of the stem at that
// step, and is then a run like any other: its weights are byte for byte those that its config would
// give from the first step, if the stem's config never changed. So both configs must agree on the
// learning rate of every step already done, and on clip_norm.
#pragma once

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

// Would more steps change the weights of a run that has this config and is over at this step?
bool can_go_on(const RunConfig& config, std::int64_t step, const std::string& run);

// Errors leave every checkpoint as it was, and are logged in train.log too. Error (usage) if a
// branch's config does not fit the steps done or, as heed train, if its folder is taken.
RunResult resume_run(const ResumeRequest& request, Log& log);

}  // namespace heed
