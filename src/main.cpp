// heed: the entry point. Runs the command (cli/commands.cpp) and turns exceptions into a message
// and an exit code.
#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/pool.h"
#include "cli/command.h"
#include "cli/output.h"
#include "math/blas.h"
#include "train/ranks.h"

namespace heed {
void require_processor(int, char**, char**);  // base/processor.cpp
}

namespace {

// OpenBLAS starts a thread for every core when it is loaded, before main(). heed does not use them,
// and where one cannot start, OpenBLAS raises SIGINT. So while libraries are loaded, a variable
// that asks for one thread has the place of another: functions in .preinit_array run before any
// code of a shared library, even setenv().
char one_thread[] = "OPENBLAS_NUM_THREADS=1";
int place = 0;  // in the environment
char* replaced = nullptr;

void before_libraries(int, char**, char** environment) {
  if (environment[0] && std::string_view(environment[0]).starts_with("OPENBLAS_CORETYPE="))
    place = 1;
  if (environment[place]) replaced = std::exchange(environment[place], one_thread);
  heed::require_room_for_blas();
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

// Says the exception that is being handled; `where`: in which process. Its exit code.
heed::Exit say_failure(const std::string& where) {
  using heed::Exit;
  const auto say = [&](Exit exit, const std::string& what) {
    heed::print_error((where + what).c_str());
    return exit;
  };
  try {
    throw;
  } catch (const heed::Error& e) {
    return say(e.exit(), e.what());
  } catch (const std::bad_alloc&) {
    const heed::Error error(Exit::memory, "not enough memory.",
                            "more of it (ulimit -v and -d limit it too), a smaller model or "
                            "train.micro_batch_tokens, shorter texts, or fewer --threads");
    return say(error.exit(), error.what());
  } catch (const std::filesystem::filesystem_error& e) {
    const std::string what = "cannot look at \"" + e.path1().string() + "\": " + e.code().message();
    return say(Exit::store, what);
  } catch (const std::system_error& e) {
    if (e.code() != std::errc::resource_unavailable_try_again) return say(Exit::internal, e.what());
    // A library's thread: SentencePiece trains with one.
    const heed::Error error(Exit::memory, std::string("cannot start a thread: ") + e.what(),
                            heed::kMoreThreads);
    return say(error.exit(), error.what());
  } catch (const std::exception& e) {
    return say(Exit::internal, e.what());
  }
}

heed::Exit run(const std::vector<std::string>& args) {
  const auto command = [&](const heed::Crew& crew) {
    const heed::Exit exit = heed::run_command(args, crew);
    heed::flush_output();
    return exit;
  };
  return heed::run_together(args, command, say_failure);
}

}  // namespace

int main(int argc, char** argv) {
  if (replaced) environ[place] = replaced;
  keep_standard_streams();
  // Freed blocks of a megabyte go back to the system. By default glibc learns to keep blocks of up
  // to 32 MiB: a quarter of what training a small model needs.
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  // A closed pipe must not end training in the middle of a step: writing to it fails instead.
  std::signal(SIGPIPE, SIG_IGN);
  // The same for a file size limit (ulimit -f): a write beyond it fails with EFBIG.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return static_cast<int>(run({argv + 1, argv + argc}));
  } catch (const heed::OutputClosed&) {
    std::signal(SIGPIPE, SIG_DFL);
    std::raise(SIGPIPE);  // silent; shells see 141, as for any filter
    return 141;
  }
}
