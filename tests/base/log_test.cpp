#include "base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/error_of.h"
#include "base/temporary_folder.h"

namespace heed {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string contents(const std::string& path) {
  std::ifstream in(path);
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

struct TemporaryFile {
  TemporaryFolder folder;
  const std::string path = folder.path() / "log";
};

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
  const Progress progress{1234, 5000, "loss 1.8231 | 48.2k tok/s", 72};
  for (int width = 40; width <= 200; ++width) {
    const std::string line = progress_line(progress, width);
    EXPECT_LT(line.size(), static_cast<std::size_t>(width));
    EXPECT_THAT(line, HasSubstr("1234/5000"));
    EXPECT_THAT(line, HasSubstr("eta 1m12s"));
    EXPECT_THAT(line, HasSubstr("["));
  }
  EXPECT_THAT(progress_line(progress, 100), HasSubstr("48.2k tok/s"));
  EXPECT_THAT(progress_line(progress, 40), Not(HasSubstr("48.2k tok/s")));
}

TEST(ProgressLine, FillsWithTheShareDone) {
  EXPECT_EQ(progress_line({0, 4, "", -1}, 21), "[>             ] 0/4");
  EXPECT_EQ(progress_line({2, 4, "", -1}, 21), "[=======>      ] 2/4");
  EXPECT_EQ(progress_line({4, 4, "", -1}, 21), "[==============] 4/4");
  EXPECT_EQ(progress_line({7, 0, "", -1}, 80), "7");
}

constexpr std::string_view kTrainLine =
    "step     10/60 | ep 5.0 | loss 7.4043 | ppl 1643.08 | gnorm 3.00 | lr 2.0e-04 | 2.7k tok/s | "
    "eta 6s";
constexpr std::string_view kValidLine =
    "valid    20 | loss 6.6769 | ppl 793.88 | bpb 2.826 | acc 0.045 | new best";

TEST(FittingFields, LeaveOutTheLeastImportantFromTheRight) {
  const std::tuple<std::string_view, int, const char*> cases[] = {
      {kTrainLine, 104, kTrainLine.data()},
      {kTrainLine, 80, "step     10/60 | ep 5.0 | loss 7.4043 | ppl 1643.08 | gnorm 3.00 | eta 6s"},
      {kTrainLine, 60, "step     10/60 | ep 5.0 | loss 7.4043 | ppl 1643.08 | eta 6s"},
      {kTrainLine, 45, "step     10/60 | loss 7.4043 | eta 6s"},
      {kTrainLine, 10, "step     10/60 | loss 7.4043 | eta 6s"},
      {kValidLine, 61, "valid    20 | loss 6.6769 | ppl 793.88 | bpb 2.826 | new best"},
      {kValidLine, 40, "valid    20 | loss 6.6769 | new best"},
      {"a line without fields", 5, "a line without fields"},
      {"two | fields", 5, "two | fields"},
      {" | loss | x", 1, " | loss | x"},
      {"", 0, ""},
  };
  for (const auto& [line, width, expected] : cases)
    EXPECT_EQ(fitting_fields(line, width), expected) << width;
}

TEST(Log, FieldsFitATerminalAndTheFileHasThemAll) {
  const TemporaryFile file;
  const Terminal terminal(45);
  Log log({.fd = terminal.slave});
  log.open_file(file.path);
  log.fields(kTrainLine);
  EXPECT_EQ(terminal.shown(), "step     10/60 | loss 7.4043 | eta 6s\r\n");
  log.fields(kValidLine, true);
  EXPECT_EQ(terminal.shown(), "valid    20 | loss 6.6769 | \x1b[32mnew best\x1b[0m\r\n");
  EXPECT_EQ(contents(file.path), std::string(kTrainLine) + "\n" + std::string(kValidLine) + "\n");
}

TEST(Log, ControlCharactersOfALineReachNeitherTerminalNorFile) {
  const TemporaryFile file;
  const Terminal terminal(80);
  Log log({.fd = terminal.slave});
  log.open_file(file.path);
  log.info("run \x1B[2J\x9B");
  log.only_file("\x1B[31m");
  EXPECT_THAT(terminal.shown(), HasSubstr("run <0x1B>[2J<0x9B>"));
  EXPECT_EQ(contents(file.path), "run <0x1B>[2J<0x9B>\n<0x1B>[31m\n");
}

TEST(Log, TheFileHasTheLinesFromBeforeItWasOpened) {
  const TemporaryFile file;
  const Terminal terminal(80);
  Log log({.fd = terminal.slave});
  log.info("one");
  log.info("two");
  log.open_file(file.path);
  log.info("three");
  EXPECT_EQ(contents(file.path), "one\ntwo\nthree\n");
}

TEST(Log, LinesPushTheBarDown) {
  const Terminal terminal(60);
  Log log({.quiet = false, .fd = terminal.slave});
  log.progress({1, 2, "", -1});
  const std::string bar = progress_line({1, 2, "", -1}, 60);
  EXPECT_EQ(terminal.shown(), "\r" + bar + "\x1b[K");
  log.info("step 1");
  EXPECT_EQ(terminal.shown(), "\r\x1b[Kstep 1\r\n" + bar);
  log.end_progress();
  EXPECT_EQ(terminal.shown(), "\r\x1b[K");
  log.warn("careful");
  EXPECT_EQ(terminal.shown(), "\x1b[33mwarning: careful\x1b[0m\r\n");
}

TEST(Log, NoBarOnANarrowTerminal) {
  const Terminal terminal(39);
  Log log({.quiet = false, .fd = terminal.slave});
  log.progress({1, 2, "", -1});
  log.info("x");
  EXPECT_EQ(terminal.shown(), "x\r\n");
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
