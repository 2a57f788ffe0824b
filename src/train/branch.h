// heed resume STEM --branch DIR: continues a run in a folder of its own, to another end.
//
// A schedule that stays high until it decays (wsd) lets one long run, the stem, have many ends:
// each branch decays from a checkpoint of the stem, usually the newest, to its own last step, and
// the stem, which may be training meanwhile, is only read. The branch holds what the stem knew at
// that step, and is then a run like any other: its weights are those that its config gives from the
// first step, byte for byte, if the stem's was never changed on the way. So its config must give
// every step already done the learning rate, and clip_norm, that the stem's gives it.
#pragma once

#include "train/resume.h"

namespace heed {

// Error (usage) where that does not hold; and as heed train if the branch's folder
// is taken.
RunResult branch_run(const ResumeRequest& request, Log& log);

}  // namespace heed
