// Starting and continuing a run: reads config and data, makes or opens the run folder, and trains.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "data/run_config.h"
#include "store/state.h"

namespace heed {

struct TrainRequest {
  std::string config;             // path
  std::vector<std::string> sets;  // --set
  std::string run;                // folder; empty: runs/<config name>
  int threads = 0;                // 0: as the config says
  std::int64_t stop_at = 0;       // 0: no
  std::string init_from;          // another run, or empty
  bool force = false;             // an old run folder is renamed
  bool profile = false;
  std::string command;  // as typed, for origin.json
};

struct ResumeRequest {
  std::string run;
  std::vector<std::string> sets;
  int threads = 0;
  std::int64_t max_steps = 0;  // 0: as it is
  std::int64_t more = 0;       // steps after the present one; 0: not given
  std::int64_t stop_at = 0;
  bool profile = false;
};

struct RunResult {
  Exit exit = Exit::ok;  // ok, interrupted or terminated
  std::string run;       // folder
  std::string reason;  // "finished", "early_stopping", "stop_at", "signal", "time", "already_done"
  State state;         // where training stands
  double seconds = 0;  // of this process
};

// Errors leave every earlier run and checkpoint as it was; once there is a train.log they stand in
// it too.
RunResult train_run(const TrainRequest& request, Log& log);
RunResult resume_run(const ResumeRequest& request, Log& log);

}  // namespace heed
