// SIGINT, SIGTERM and SIGHUP ask a run to stop: after the first one the run finishes its step and
// saves; a second one ends the process at once. So does SIGUSR1, which launchers forward. Before a
// run watches them they end the process, SIGUSR1 as SIGTERM does (main.cpp).
#pragma once

#include "base/error.h"

namespace heed {

// Starts catching the signals. Call it once, before threads start.
void watch_signals();

// The signal received, or 0.
int stop_signal();

// 130 for SIGINT, 143 for the others.
Exit exit_of_signal(int signal);

}  // namespace heed
