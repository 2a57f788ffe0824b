// How a training goes, however it begins: anew (train/start), resumed or branched (train/resume).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/input_file.h"
#include "base/log.h"
#include "store/layout.h"
#include "store/origin.h"
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

// Where a training begins: everything is read and checked, and the threads run. One that is resumed
// goes on in its own folder, `from`; the others get a folder of their own.
struct Beginning {
  PreparedRun prepared;
  Origin origin;  // what origin.json says, or is to say; its processor is that of the steps done
  std::filesystem::path from = {};              // the run whose steps those are; empty: none
  std::optional<Checkpoint> at = {};            // its newest of them
  std::vector<DamagedCheckpoint> damaged = {};  // newer ones, which get other names
  std::vector<Checkpoint> earlier = {};         // a branch takes these too
  std::optional<ParamVec<float>> weights = {};  // of --init-from
  std::vector<RunEvent> events = {};            // to be written
  std::unique_ptr<StoredInput> text = {};       // becomes RUN/text.txt; null: none
  std::filesystem::path stored_text = {};       // the same, of a branch's run

  std::int64_t steps_done() const { return at ? at->state().step : 0; }
};

struct RunResult {
  Exit exit = Exit::ok;       // ok, interrupted or terminated
  std::string run;            // folder
  std::string reason;         // one of reasons()
  State state;                // where training stands
  std::optional<State> best;  // of the best checkpoint (best_of())
  double seconds = 0;         // of this process
};

std::string reasons();  // "finished, early_stopping, ..."

// The error that ends a run whose weights are ruined, and where it stands.
struct FailedRun : Error {
  FailedRun(const Error& error, RunResult at) : Error(error), result(std::move(at)) {}
  RunResult result;
};

// Error (store) unless a checkpoint has room on the disk of `run`. Before go(), and before a run
// folder is made.
void require_room(const PreparedRun& prepared, const std::string& run, Log& log);

// Trains to the end of the run, whose lock is held, and logs how it begins and ends.
RunResult go(Beginning& beginning, const RunRequest& request, RunWriter& run, Log& log);

// Makes the folder `run`, which RunWriter::require_free() has checked, and goes there.
RunResult go_in_new_folder(Beginning& beginning, const RunRequest& request, const std::string& run,
                           Log& log);

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
