// Which checkpoint of a run is the best: of those present, the one with the best validation of its
// own (ties: lower loss, then earlier); if none was validated, the last. The link `best` only
// repeats this.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>

#include "store/state.h"

namespace heed {

// Its BLEU decides if both have one, else their loss.
bool is_better(const State& one, const State& other);

// Among the checkpoints up to a step; nothing if there are none. Damaged ones, as far as their
// state.json shows it, do not count.
std::optional<State> best_checkpoint(const std::filesystem::path& run,
                                     std::int64_t up_to = std::numeric_limits<std::int64_t>::max());

}  // namespace heed
