// The ranks of a training (step/exchange.h): the first reads, prepares and decides everything, and
// the others follow it. They need neither the run folder nor the data. One process is the first of
// one, and all this does nothing.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/std_names.h"
#include "train/prepared_run.h"

namespace heed {

// What main() does: runs `command` on the first of the ranks that a launcher has started, which
// must have the same `args`, while the others follow. `failed` says the exception that is being
// handled, of a rank with this name, and has its exit code; it ends all ranks.
Exit run_together(const vector<string>& args, const function<Exit(const Crew&)>& command,
                  const function<Exit(const string& where)>& failed);

// On the first rank, when it has the data: the others get it, once, and prepare the same run. Error
// (usage) if there are more ranks than shards.
void share_run(const Crew& crew, const RunConfig& config, Dataset& data,
               const Tokenizers& tokenizers, int threads);

// What all do together with the run that they have prepared.
enum class Task { end, prepare, measure, train };

// On the first rank, as it begins one: the others begin it, too.
void lead(const PreparedRun& run, Task task, int64_t stop_at = 0);

}  // namespace heed
