// The gold of sentence pairs: which source positions determine a target position (inspect/gold.h).
#pragma once

#include <string>
#include <vector>

#include "inspect/gold.h"

namespace heed {

// `lines`: those of files.gold.
GoldSet read_pair_gold(const GoldFiles& files, const std::vector<std::string>& lines,
                       const RunConfig& config, const Tokenizers& tokenizers);

}  // namespace heed
