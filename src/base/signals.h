// SIGINT, SIGTERM and SIGHUP ask a run to stop: after the first one the run finishes its step and
// saves; a second one ends the process at once.
#pragma once

#include "base/error.h"

namespace heed {

// Starts catching the signals. Call it once, before threads start.
void watch_signals();

// The signal received, or 0.
int stop_signal();

// 130 for SIGINT, 143 for SIGTERM and SIGHUP.
Exit exit_of_signal(int signal);

}  // namespace heed
