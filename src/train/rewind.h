// heed rewind: the checkpoint of any step that a run has done, trained anew.
//
// A training repeats to the byte, so every step of it is stored already. The steps from the nearest
// checkpoint before the one asked for are done again by a Trainer without a run: it validates where
// the run did, and stops where it is told to. What it holds then is what a save would have written,
// and is written into RUN/rewound/step-00000137/. Only --checkpoint step-137 ever looks there.
//
//   kept        step 100                          step 150           (checkpoints/)
//   saved       step 100       step 125           step 150           (chain.jsonl has their hashes)
//   asked for                            137
//   trained           ...................+--------proof
//
// The config of a step is that of the next save, which a kept checkpoint must have (or have but for
// the end of the run): so heed resume --set is repeated, too. And it is proved: training goes on to
// the next step that was saved, and must have its weights and moments, or nothing is written. A
// kept step that is asked for by its number is trained anew, too: so scripts/audit.py repeats a
// run.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/std_names.h"
#include "step/crew.h"
#include "store/run_folder.h"

namespace heed {

struct RewindRequest {
  string run;             // folder
  vector<int64_t> steps;  // in any order
  bool log = false;       // instead: 0, 1, 2, 4, 8, ... and the last one
  int threads = 0;        // 0: as in the config
  Crew crew = {};
};

struct Rewound {
  map<int64_t, fs::path> steps;  // the folder of each: in checkpoints/ if it is kept there
  vector<string> lines;          // of metrics.jsonl, as they came out
};

// Takes the run's lock. Error (usage) if a step cannot be repeated: it has not been
// done, its beginning or its config is gone, or it was done by other kernels. Error (data) on other
// data. Error (check_failed) if the training comes out otherwise.
Rewound rewind(const RewindRequest& request, Log& log);

}  // namespace heed
