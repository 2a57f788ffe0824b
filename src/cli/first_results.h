// Printed when training on the user's own text or with a shipped config ends: a sample, the page,
// what to try next.
#pragma once

#include <string>

#include "base/log.h"
#include "train/training_run.h"

namespace heed {

// Did `heed train TEXT` start this run? Then its data paths are relative to its folder.
bool is_of_own_text(const std::string& run);

// Logs a sample, writes RUN/report.html, and names commands to try next. The run is already
// complete, so an Error is only a warning.
void show_first_results(const RunResult& result, Log& log);

}  // namespace heed
