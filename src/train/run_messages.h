// What training a run says before and after.
#pragma once

#include "evaluate/yardsticks.h"
#include "train/training_run.h"

namespace heed {

// Model, data and plan.
void say_start(Log& log, const PreparedRun& run);

const char* reason_name(Stop stop);  // for RunResult

void say_yardsticks(Log& log, const Yardsticks& yardsticks);

// Why training ended, the best so far, which yardsticks it beats, and how to continue.
void say_end(Log& log, Stop stop, const RunResult& result, SelectBy by,
             const Yardsticks& yardsticks);

// What metrics.jsonl has lost, or loses because training continues after `step`.
void say_cut(Log& log, const MetricsCut& cut, std::int64_t step);

}  // namespace heed
