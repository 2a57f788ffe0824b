#include "store/run_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/temporary_folder.h"
#include "store/small_checkpoint.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

// A child process that holds the lock until it is killed.
pid_t start_holder(const fs::path& run) {
  int ready[2];
  EXPECT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const RunLock lock(run);
    char byte = 1;
    if (::write(ready[1], &byte, 1) == 1) ::pause();
    ::_exit(0);
  }
  char byte;
  EXPECT_EQ(::read(ready[0], &byte, 1), 1);
  ::close(ready[0]);
  ::close(ready[1]);
  return child;
}

TEST(RunLock, TheSecondOneIsToldWhoHoldsItUntilThatOneDies) {
  TemporaryFolder folder;
  const pid_t child = start_holder(folder.path());
  expect_error([&] { RunLock lock(folder.path()); }, Exit::usage,
               {folder.path().string(), std::to_string(child)});
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  RunLock lock(folder.path());
}

TEST(RunLock, OneProcessCannotHoldItTwice) {
  TemporaryFolder folder;
  RunLock lock(folder.path());
  expect_error([&] { RunLock other(folder.path()); }, Exit::usage,
               {folder.path().string(), std::to_string(::getpid())});
  RunLock moved(std::move(lock));
  EXPECT_THROW(RunLock other(folder.path()), Error);
}

TEST(RunLock, AFolderThatIsNotThereIsAnError) {
  expect_error([&] { RunLock lock("/no/such/folder"); }, Exit::store,
               {"/no/such/folder", "No such file"});
}

}  // namespace
}  // namespace heed
