// Runs of several settings on one page (heed report RUN RUN).
#pragma once

#include "base/json_fwd.h"
#include "base/log.h"

namespace heed {

// Runs that differ in seed alone are a group, unless all do: adds to those of all but the first how
// they compare with it, as heed compare --json does, or why they do not. `runs`: of show/page.h's
// comparison().
void add_comparisons(Json& runs, Log& log);

}  // namespace heed
