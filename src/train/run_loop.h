// What starting and continuing a run end in.
#pragma once

#include "base/log.h"
#include "store/run_writer.h"
#include "train/trainer.h"
#include "train/training_run.h"

namespace heed {

struct RunLoop {
  Trainer& trainer;
  const RunWriter& run;
  std::int64_t stop_at;
  bool profile;
  double begin;  // seconds_now() when the command began
};

RunResult train_to_the_end(const RunLoop& loop, Log& log);

// The log file gets the error that ends a run too; the terminal gets it from main().
template <class Work>
RunResult with_errors_in_log(Log& log, Work&& work) {
  try {
    return work();
  } catch (const std::exception& e) {
    log.only_file(std::string("error: ") + e.what());
    throw;
  }
}

}  // namespace heed
