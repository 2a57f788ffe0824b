// The rules between the keys of a config, and what follows from other keys where one was left open.
#pragma once

#include <set>
#include <string>

#include "data/run_config.h"

namespace heed {

// Checks the rules and fills in what was left open. `given`: the full keys that the user wrote.
// Errors are Exit::usage and name the key.
RunConfig resolve(RunConfig c, const std::set<std::string>& given);

}  // namespace heed
