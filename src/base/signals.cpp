#include "base/signals.h"
#include "base/std_names.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string_view>

namespace heed {
namespace {

volatile std::sig_atomic_t noted = 0;
bool terminal = false;  // stderr is one

// For the handler: skips the text if writing would block.
void say(string_view text) {
  const int before = errno;
  pollfd out{STDERR_FILENO, POLLOUT, 0};
  if (::poll(&out, 1, 0) > 0) {
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
  }
  errno = before;
}

extern "C" void note_signal(int signal) {
  if (noted != 0) {
    say("\nheed: stopped at once; what was saved is kept\n");
    ::_exit(signal == SIGINT ? 130 : 143);
  }
  noted = signal;
  if (terminal)
    say("\nheed: will stop after this step and keep what is done; a second signal stops it now\n");
}

}  // namespace

void watch_signals() {
  terminal = ::isatty(STDERR_FILENO) == 1;
  struct sigaction action = {};
  action.sa_handler = note_signal;
  action.sa_flags = SA_RESTART;
  for (int signal : {SIGINT, SIGTERM, SIGUSR1}) ::sigaction(signal, &action, nullptr);
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
