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
  for (int signal : {SIGINT, SIGTERM}) ::sigaction(signal, &action, nullptr);
  struct sigaction hang_up = {};
  ::sigaction(SIGHUP, nullptr, &hang_up);
  if (hang_up.sa_handler != SIG_IGN) ::sigaction(SIGHUP, &action, nullptr);  // nohup stays nohup
}

int stop_signal() {
  return noted;
}

Exit exit_of_signal(int signal) {
  return signal == SIGINT ? Exit::interrupted : Exit::terminated;
}

}  // namespace heed
