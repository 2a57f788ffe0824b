// The gold of pronouns: which noun of the story a pronoun refers to (inspect/gold.h).
#pragma once

#include <string>
#include <vector>

#include "inspect/gold.h"

namespace heed {

// `lines`: those of files.gold.
std::vector<GoldSet> read_pronoun_gold(const GoldFiles& files,
                                       const std::vector<std::string>& lines,
                                       const RunConfig& config, const Tokenizers& tokenizers);

}  // namespace heed
