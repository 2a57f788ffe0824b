// The schedule of the learning rate as a sentence, for the log.
#pragma once

#include <cstdint>
#include <string>

#include "config/optimizer_config.h"

namespace heed {

// "rises to 0.008 over 100 steps, stays until step 1600, falls to 0 at step 2000": for a run that
// ends at step `end` (0: no planned end).
std::string schedule_in_words(const OptimizerConfig& config, std::int64_t end);

}  // namespace heed
