// What starting a run (train/start) and continuing or branching one (train/resume) share: the
// request, the training once everything is prepared, and the result.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "store/layout.h"
#include "train/prepared_run.h"
#include "train/trainer.h"

namespace heed {

struct RunRequest {
  std::string folder;
  std::string command;            // as typed, for origin.json
  std::vector<std::string> sets;  // --set
  bool force = false;             // rename an old folder of the same name
  int threads = 0;                // 0: as in the config
  std::int64_t stop_at = 0;       // 0: no limit
  double begin = seconds_now();   // of the command
  Crew crew;
};

struct RunResult {
  Exit exit = Exit::ok;       // ok, interrupted or terminated
  std::string run;            // folder
  std::string reason;         // one of reasons()
  State state;                // where training stands
  std::optional<State> best;  // of the best checkpoint (store/best.h)
  double seconds = 0;         // of this process
};

std::string reasons();  // "finished, early_stopping, ..."

// The error that ends a run whose weights are ruined, and where it stands.
struct FailedRun : Error {
  FailedRun(const Error& error, RunResult at) : Error(error), result(std::move(at)) {}
  RunResult result;
};

// Error (store) unless a checkpoint has room on the disk of `run`. Before train_to_the_end(), and
// before a run folder is made.
void require_room(const PreparedRun& prepared, const std::string& run, Log& log);

// A run of a text keeps the checkpoint at which its rate begins to fall (train/resume.h).
void keep_fall(RunWriter& run, const RunConfig& config);

// Trains from the state that `set_up` gives the trainer, and logs how it begins and ends.
RunResult train_to_the_end(const PreparedRun& prepared, const RunRequest& request, RunWriter& run,
                           Log& log, const std::function<void(Trainer&)>& set_up);

// The result of a run as it stands.
RunResult result_of(const RunWriter& run, const RunRequest& request, const State& state,
                    const std::string& reason, Exit exit = Exit::ok);

// Logs what metrics.jsonl has lost, or loses because training continues after `step`.
void say_cut(Log& log, const MetricsCut& cut, std::int64_t step);

// Opens the run's train.log and logs there the error that ends the run; main() prints it.
template <class Work>
RunResult with_errors_in_log(RunWriter& run, Log& log, Work&& work) {
  log.open_file((run.path() / kTrainLog).string());
  for (const std::string& note : run.take_notes()) log.info(note);
  try {
    return work();
  } catch (const std::exception& e) {
    log.only_file(std::string("error: ") + e.what());
    throw;
  }
}

}  // namespace heed
