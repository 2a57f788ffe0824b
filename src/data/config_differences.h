// In which config keys several runs differ.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "data/run_config.h"

namespace heed {

using ConfigKeys = std::map<std::string, nlohmann::ordered_json>;  // "model.d_model" -> 64

ConfigKeys keys_of(const RunConfig& config);

// Leaves the keys that not all have with the same value. An empty one is that of a run whose config
// cannot be read; it does not count.
void keep_differences(const std::vector<ConfigKeys*>& configs);

}  // namespace heed
