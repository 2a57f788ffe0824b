// SIGINT, SIGTERM and SIGHUP as a wish to stop: the first one is noted, work goes on to a good
// place and saves; a second one ends the process at once.
#pragma once

#include "base/error.h"

namespace heed {

// From now on signals are noted. Call once, before the threads start.
void watch_signals();

// The signal that came, or 0.
int stop_signal();

// 130 for SIGINT, 143 for SIGTERM and SIGHUP.
Exit exit_of_signal(int signal);

}  // namespace heed
