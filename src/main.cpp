// heed: the way in. Chooses the command (cli/commands.cpp) and turns what goes wrong into a message
// and an exit code.
#include <fcntl.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/utf8.h"
#include "cli/command.h"
#include "cli/output.h"

namespace {

// If a standard stream is closed, the next file opened would take its number, and our output would
// go into that file.
void keep_standard_streams() {
  for (int fd = 0; fd <= 2; ++fd)
    if (::fcntl(fd, F_GETFD) < 0) (void)::open("/dev/null", O_RDWR);
}

heed::Exit report(heed::Exit exit, const char* what) {
  std::fprintf(stderr, "heed: error: %s\n", heed::printable_lines(what).c_str());
  return exit;
}

heed::Exit run(const std::vector<std::string>& args) {
  using heed::Exit;
  try {
    const Exit exit = heed::run_command(args);
    heed::flush_output();
    return exit;
  } catch (const heed::Error& e) {
    return report(e.exit(), e.what());
  } catch (const std::bad_alloc&) {
    return report(Exit::memory, "not enough memory.");
  } catch (const std::filesystem::filesystem_error& e) {
    const std::string what = "cannot look at \"" + e.path1().string() + "\": " + e.code().message();
    return report(Exit::store, what.c_str());
  } catch (const std::exception& e) {
    return report(Exit::internal, e.what());
  }
}

// OpenBLAS starts its threads before main() and waits for them after it. Under a limit on addresses
// (ulimit -v) some never started, and it would wait for ever.
void leave_at_once_if_limited(heed::Exit exit) {
  rlimit addresses;
  if (::getrlimit(RLIMIT_AS, &addresses) != 0 || addresses.rlim_cur == RLIM_INFINITY) return;
  std::fflush(nullptr);
  ::_exit(static_cast<int>(exit));
}

}  // namespace

int main(int argc, char** argv) {
  keep_standard_streams();
  // Blocks of a megabyte go back to the system when freed. By itself glibc comes to keep those of
  // up to 32 MiB, once one was freed: a fourth of what training a small model needs.
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  // A closed pipe must not end a training run in mid-step: it is noticed where output is written.
  std::signal(SIGPIPE, SIG_IGN);
  // So does a limit on the size of files (ulimit -f): a write that reaches it fails with EFBIG.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    const heed::Exit exit = run({argv + 1, argv + argc});
    leave_at_once_if_limited(exit);
    return static_cast<int>(exit);
  } catch (const heed::OutputClosed&) {
    std::signal(SIGPIPE, SIG_DFL);
    std::raise(SIGPIPE);  // silent; shells see 141, as with any filter
    return 141;
  }
}
