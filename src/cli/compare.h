// Runs compared on one text, for heed compare and heed report RUN RUN.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/pool.h"

namespace heed {

using RunGroup = std::vector<std::string>;  // of one setting

struct ComparedText {
  std::string file = {}, target_file = {};  // "": the held-out data of the first run
  bool translate = true;                    // of pairs
};

// Each further group with the first: `take` gets the objects that heed compare --json prints
// (docs/formats.md), one after the other. Error (usage) if two runs cannot be compared.
void compare_groups_of_runs(const std::vector<RunGroup>& groups, const ComparedText& text,
                            Pool& pool, Log& log,
                            const std::function<void(const nlohmann::ordered_json&)>& take);

}  // namespace heed
