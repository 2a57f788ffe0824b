// What a start on a text of one's own says before it trains: what was read and chosen, and why.
#pragma once

#include <cstdint>
#include <string>

#include "base/log.h"
#include "train/prepared_run.h"
#include "train/suggested_config.h"

namespace heed {

struct Plan {
  std::int64_t steps = 0;
  bool chosen = true;      // false: the user has set when training ends
  double passes = 0;       // through the text
  double most_passes = 0;  // that help
  double seconds = 0;
};

// The first few of them: "a.txt, b.txt, c.txt and 9 more".
std::string names_of(const std::vector<std::string>& files);

void say_text(Log& log, const FoundTexts& found, const TextFacts& facts);
// Why these tokens; not said of a tokenizer that the user has chosen.
void say_tokens(Log& log, TokenizerConfig::Type type, const TextFacts& facts);
void say_model(Log& log, const OwnText& text, const PreparedRun& run);
// `init_from` as typed, or empty.
void say_plan(Log& log, const Plan& plan, const std::string& run, const std::string& init_from);

}  // namespace heed
