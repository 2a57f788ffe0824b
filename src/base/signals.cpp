#include "base/signals.h"

#include <unistd.h>

#include <csignal>

namespace heed {
namespace {

volatile std::sig_atomic_t noted = 0;

extern "C" void note_signal(int signal) {
  if (noted != 0) ::_exit(signal == SIGINT ? 130 : 143);
  noted = signal;
}

}  // namespace

void watch_signals() {
  struct sigaction action = {};
  action.sa_handler = note_signal;
  action.sa_flags = SA_RESTART;
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
}

int stop_signal() {
  return noted;
}

Exit exit_of_signal(int signal) {
  return signal == SIGINT ? Exit::interrupted : Exit::terminated;
}

}  // namespace heed
