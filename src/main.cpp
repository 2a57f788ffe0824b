// heed: the entry point. Prepares the process and runs the command (cli/commands.cpp).
#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "math/blas.h"

namespace heed {
void require_processor(int, char**, char**);         // base/processor.cpp
int run_heed(const std::vector<std::string>& args);  // cli/command.h, which takes long to compile
}  // namespace heed

namespace {

// OpenBLAS starts a thread for every core when it is loaded, before main(). heed does not use them,
// and where one cannot start, OpenBLAS raises SIGINT. So while libraries are loaded, a variable
// that asks for one thread has the place of another: functions in .preinit_array run before any
// code of a shared library, even setenv().
char one_thread[] = "OPENBLAS_NUM_THREADS=1";
int place = 0;  // in the environment
char* replaced = nullptr;
bool nohup = false;  // which MPI's libraries would undo

void before_libraries(int, char**, char** environment) {
  if (environment[0] && std::string_view(environment[0]).starts_with("OPENBLAS_CORETYPE="))
    place = 1;
  if (environment[place]) replaced = std::exchange(environment[place], one_thread);
  heed::require_room_for_blas();
  struct sigaction hang_up = {};
  ::sigaction(SIGHUP, nullptr, &hang_up);
  nohup = hang_up.sa_handler == SIG_IGN;
  // It asks to stop, from the first moment on (base/signals.h).
  std::signal(SIGUSR1, [](int) { std::raise(SIGTERM); });
}
// Aligned as one pointer: a gap before them (AddressSanitizer has one too) would be called.
[[gnu::section(".preinit_array"), gnu::used,
  gnu::aligned(sizeof(void*))]] void (*first[])(int, char**, char**) = {heed::require_processor,
                                                                        before_libraries};

// If a standard stream is closed, the next file opened would take its number, and our output would
// go into that file. Writing to a closed standard output must still fail.
void keep_standard_streams() {
  for (int fd = 0; fd <= 2; ++fd)
    if (::fcntl(fd, F_GETFD) < 0) (void)::open("/dev/null", fd == 1 ? O_RDONLY : O_RDWR);
}

}  // namespace

int main(int argc, char** argv) {
  if (replaced) environ[place] = replaced;
  if (nohup) std::signal(SIGHUP, SIG_IGN);
  keep_standard_streams();
  // Freed blocks of a megabyte go back to the system. By default glibc learns to keep blocks of up
  // to 32 MiB: a quarter of what training a small model needs.
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  // A closed pipe must not end training in the middle of a step: writing to it fails instead.
  std::signal(SIGPIPE, SIG_IGN);
  // The same for a file size limit (ulimit -f): a write beyond it fails with EFBIG.
  std::signal(SIGXFSZ, SIG_IGN);
  return heed::run_heed({argv + 1, argv + argc});
}
