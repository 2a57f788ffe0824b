// The ranks of a training (step/exchange.h): the first reads, prepares and decides everything, and
// the others follow it. They need neither the run folder nor the data.
#pragma once

#include "train/prepared_run.h"

namespace heed {

enum class Task { end, train, measure };

// On the first rank, before it begins a task: gives all others the run, and waits until they are
// ready for it. One process has none.
void lead(const PreparedRun& run, Task task, std::int64_t stop_at = 0);

// All that the other ranks do: one task after the other.
void follow(Exchange& exchange);
// On the first rank: no task is left.
void dismiss(Exchange& exchange);

}  // namespace heed
