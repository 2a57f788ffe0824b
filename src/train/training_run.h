// How a training goes, however it begins: fresh (train/start), resumed (train/resume) or branched
// (train/branch).
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "store/layout.h"
#include "train/prepared_run.h"
#include "train/trainer.h"

namespace heed {

struct RunRequest {
  std::string folder;
  std::string command;           // as typed, for origin.json
  GivenKeys given;               // by --set
  bool force = false;            // rename an old folder of the same name
  int threads = 0;               // 0: as in the config
  std::int64_t stop_at = 0;      // 0: no limit
  double begin = seconds_now();  // of the command
  Crew crew;
};

struct RunResult {
  Exit exit = Exit::ok;       // ok, interrupted or terminated
  std::string run;            // folder
  std::string reason;         // one of those that heed train --help names
  State state;                // where training stands
  std::optional<State> best;  // of the best checkpoint (best_of())
  double seconds = 0;         // of this process
};

// The error that ends a run whose weights are ruined, and where it stands.
struct FailedRun : Error {
  FailedRun(const Error& error, RunResult at) : Error(error), result(std::move(at)) {}
  RunResult result;
};

// Error (store) unless a checkpoint has room on the disk of `run`. Before go(), and before a run
// folder is made.
void require_room(const PreparedRun& prepared, const std::string& run, Log& log);

// Trains to the end of a run, whose lock is held. `begin` puts trainer and run where the training
// begins. From here on all that is logged is in train.log too.
RunResult go(const PreparedRun& prepared, const RunRequest& request, RunWriter& run, Log& log,
             const std::function<void(Trainer&)>& begin);

// The result of a run as it stands.
RunResult result_of(const RunWriter& run, const RunRequest& request, const State& state,
                    const std::string& reason, Exit exit = Exit::ok);

// The first line of metrics.jsonl: the command, and the processor that it began on.
void append_start(RunWriter& run, const std::string& command, const RunConfig& config);

}  // namespace heed
