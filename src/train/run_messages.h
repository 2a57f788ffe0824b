// What training a run says before and after, and whether it fits into memory.
#pragma once

#include <string>

#include "base/log.h"
#include "base/profile.h"
#include "store/run_writer.h"
#include "train/memory.h"
#include "train/trainer.h"

namespace heed {

// Everything a run needs before its first step. The parts must outlive it.
struct PreparedRun {
  const RunConfig& config;
  const Transformer& model;
  const Dataset& data;
  const Tokenizers& tokenizers;
  int threads;
};

// Error (memory) if the training cannot fit.
MemoryPlan plan_memory(const PreparedRun& run);

// Model, data and plan, `done` steps being behind.
void say_start(Log& log, const PreparedRun& run, const MemoryPlan& memory, std::int64_t done);

const char* reason_name(Stop stop);  // for RunResult

// Why training ended, the best so far, and how to go on.
void say_end(Log& log, Stop stop, const Trainer& trainer, const std::string& run, double seconds);

// What was dropped from metrics.jsonl before going on after `step`, or lost.
void say_cut(Log& log, const MetricsCut& cut, std::int64_t step);
// A validation off the grid is not counted, however good.
void say_better_than_best(Log& log, const State& state);
void say_profile(Log& log, const Profile& profile);

}  // namespace heed
