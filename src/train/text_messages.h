// What a start on a text of one's own says before it trains: what was chosen, and why.
#pragma once

#include <string>
#include <vector>

#include "train/prepared_run.h"
#include "train/suggested_config.h"

namespace heed {

using Lines = std::vector<std::string>;  // of the log

struct Plan {
  bool chosen = true;  // false: the user has set the steps
  double passes = 0;   // through the text
  double seconds = 0;
};

Lines describe_text(const OwnText& text, const std::string& name);
Lines describe_choices(const OwnText& text, const Suggestion& suggestion, const PreparedRun& run);
Lines describe_plan(const Suggestion& suggestion, const Plan& plan, const std::string& run);

}  // namespace heed
