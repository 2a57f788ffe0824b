#include "base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <unistd.h>

#include <cstdlib>

#include "base/input_file.h"
#include "base/temporary_folder.h"

namespace heed {
namespace {

using testing::HasSubstr;

// Both ends of a new terminal.
struct Terminal {
  explicit Terminal(int columns) {
    winsize size{};
    size.ws_col = static_cast<unsigned short>(columns);
    size.ws_row = 24;
    EXPECT_EQ(openpty(&master, &slave, nullptr, nullptr, &size), 0);
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
  }
  ~Terminal() {
    close(master);
    close(slave);
  }
  // The kernel may deliver the output in pieces, the last one a little later.
  std::string shown() const {
    std::string all;
    pollfd readable{master, POLLIN, 0};
    while (poll(&readable, 1, all.empty() ? 2000 : 200) > 0) {
      char bytes[4096];
      const ssize_t n = read(master, bytes, sizeof bytes);
      if (n <= 0) break;
      all.append(bytes, static_cast<std::size_t>(n));
    }
    return all;
  }
  int master = -1, slave = -1;
};

TEST(ProgressLine, FitsTheTerminal) {
  const Progress progress{1234, 5000, 72};
  for (int width = 40; width <= 200; ++width) {
    const std::string line = progress_line(progress, width);
    EXPECT_LT(line.size(), static_cast<std::size_t>(width));
    EXPECT_THAT(line, HasSubstr("1234/5000"));
    EXPECT_THAT(line, HasSubstr("eta 1m12s"));
    EXPECT_THAT(line, HasSubstr("["));
  }
}

TEST(ProgressLine, FillsWithTheShareDone) {
  EXPECT_EQ(progress_line({0, 4, -1}, 21), "[>             ] 0/4");
  EXPECT_EQ(progress_line({2, 4, -1}, 21), "[=======>      ] 2/4");
  EXPECT_EQ(progress_line({4, 4, -1}, 21), "[==============] 4/4");
  EXPECT_EQ(progress_line({7, 0, -1}, 80), "7");
}

TEST(Log, ControlCharactersOfALineReachNeitherTerminalNorFile) {
  const TemporaryFolder folder;
  const std::string path = folder.path() / "log";
  const Terminal terminal(80);
  Log log({.fd = terminal.slave});
  log.info("run \x1B[2J\x9B");
  log.open_file(path);  // which has the lines from before, too
  log.only_file("\x1B[31m");
  EXPECT_THAT(terminal.shown(), HasSubstr("run <0x1B>[2J<0x9B>"));
  EXPECT_EQ(read_file(path, 1000), "run <0x1B>[2J<0x9B>\n<0x1B>[31m\n");
}

TEST(Log, LinesPushTheBarDown) {
  const Terminal terminal(60);
  Log log({.quiet = false, .fd = terminal.slave});
  log.progress({1, 2, -1});
  const std::string bar = progress_line({1, 2, -1}, 60);
  EXPECT_EQ(terminal.shown(), "\r" + bar + "\x1b[K");
  log.info("step 1");
  EXPECT_EQ(terminal.shown(), "\r\x1b[Kstep 1\r\n" + bar);
  log.end_progress();
  EXPECT_EQ(terminal.shown(), "\r\x1b[K");
  log.warn("careful");
  EXPECT_EQ(terminal.shown(), "\x1b[33mwarning: careful\x1b[0m\r\n");
}

TEST(Log, AFullDiskUnderTheFileIsToldOnceAndDoesNotStop) {
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP();
  int fds[2];
  ASSERT_EQ(pipe(fds), 0);
  {
    Log log({.quiet = true, .fd = fds[1]});
    log.open_file("/dev/full");
    log.info("one");
    log.info("two");
  }
  close(fds[1]);
  std::string told(4096, '\0');
  told.resize(static_cast<std::size_t>(read(fds[0], told.data(), told.size())));
  close(fds[0]);
  EXPECT_EQ(told.find("warning: the log file"), told.rfind("warning: the log file"));
  EXPECT_THAT(told, HasSubstr("/dev/full"));
}

}  // namespace
}  // namespace heed
