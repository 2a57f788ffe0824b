// Prints `heed evaluate` as text: each figure with its unit, the model's loss among the yardsticks.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace heed {

// `result` is what --json prints. `pseudo`: a masked model's pseudo-perplexity.
void print_evaluation(const nlohmann::ordered_json& result, bool pseudo);

}  // namespace heed
