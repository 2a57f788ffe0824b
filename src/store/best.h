// Which checkpoint of a run is the best: of those present, the one with the best validation of its
// own (ties: lower loss, then earlier); if none was validated, the last. The link `best` only
// repeats this.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <vector>

#include "store/state.h"

namespace heed {

// Their metrics decide (train.select_by) if both have one, else their losses.
bool is_better(const State& one, const State& other);

// The best validation up to a checkpoint, of those that count for train.patience; step -1: none.
State best_so_far(const State& checkpoint);

// What the state.json of a step says; nothing if it is damaged, or if a saver has removed it.
std::optional<State> state_of(const std::filesystem::path& run, std::int64_t step);
// The states of the checkpoints of steps, ascending. Without those that are damaged, as far as
// their state.json shows it. Error (store) if one cannot be read now.
std::vector<State> states_of(const std::filesystem::path& run);

// The best of those of steps up to one; nothing if there are none.
std::optional<State> best_checkpoint(const std::filesystem::path& run,
                                     std::int64_t up_to = std::numeric_limits<std::int64_t>::max());

}  // namespace heed
