// Runs compared on one text, for heed compare and heed report RUN RUN.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/std_names.h"
#include "evaluate/test_text.h"

namespace heed {

using RunGroup = vector<string>;  // of one setting

// Each further group with the first: `take` gets the objects that heed compare --json prints
// (docs/formats.md), one after the other. `translates`: pairs are also translated. Error (usage) if
// two runs cannot be compared.
void compare_groups_of_runs(const vector<RunGroup>& groups, NamedText text, bool translates,
                            Pool& pool, Log& log, const function<void(const Json&)>& take);

}  // namespace heed
