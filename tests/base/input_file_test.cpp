#include "base/input_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "base/error_of.h"
#include "base/folders.h"
#include "base/temporary_folder.h"

namespace heed {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using Allow = InputFile::Allow;

// A pipe in place of standard input, which does not wait for its writer.
class NonBlockingInput {
 public:
  NonBlockingInput() : saved_(::dup(STDIN_FILENO)) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
    ::dup2(ends[0], STDIN_FILENO);
    ::close(ends[0]);
    write_end_ = ends[1];
  }
  ~NonBlockingInput() {
    ::dup2(saved_, STDIN_FILENO);
    ::close(saved_);
  }
  void write(const std::string& text) const {
    EXPECT_EQ(::write(write_end_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void close() const { ::close(write_end_); }

 private:
  int saved_, write_end_;
};

TEST(InputFile, OnlyRegularFilesOfAllowedSizeAreRead) {
  TemporaryFolder folder;
  const fs::path file = folder.path() / "file", link = folder.path() / "link";
  const fs::path pipe = folder.path() / "pipe";
  replace_file(file, "12345");
  fs::create_symlink("file", link);
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(read_file(link, 5), "12345");
  EXPECT_THAT(error_of([&] { read_file(file, 4); }), HasSubstr("5 bytes, expected at most 4"));
  EXPECT_THAT(error_of([&] { read_file(link, 5, Allow::file); }), HasSubstr("symbolic link"));
  EXPECT_THAT(error_of([&] { read_file(pipe, 5); }), HasSubstr("device or pipe"));
  EXPECT_THAT(error_of([&] { read_file(folder.path(), 5); }), HasSubstr("a folder"));
  EXPECT_THAT(
      error_of([&] { read_file(folder.path() / "no", 5, Allow::link, Exit::data); }, Exit::data),
      HasSubstr("No such file"));
}

TEST(InputFile, WhatNeverEndsIsRefusedOrStopsAtTheLimit) {
  for (const char* endless : {"/dev/zero", "/dev/urandom"})
    EXPECT_THAT(error_of([&] { read_file(endless, 1000, Allow::anything); }),
                AllOf(HasSubstr(endless), HasSubstr("a device, expected a file or a pipe")));
  EXPECT_EQ(read_file("/dev/null", 0, Allow::anything), "");
  const NonBlockingInput input;
  input.write(std::string(2000, 'x'));
  EXPECT_THAT(error_of([&] { read_file("-", 1000, Allow::anything); }),
              HasSubstr("expected at most 1000"));
  input.close();
}

TEST(InputFile, StandardInputThatDoesNotBlockIsWaitedFor) {
  const NonBlockingInput input;
  std::thread writer([&] {
    for (const char* part : {"one\ntw", "o", "\nthree"}) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      input.write(part);
    }
    input.close();
  });
  EXPECT_EQ(read_file("-", 100, Allow::anything), "one\ntwo\nthree");
  writer.join();
}

TEST(InputLines, AreReadyAsSoonAsTheyAreWhole) {
  const NonBlockingInput input;
  InputLines lines("-", Allow::anything);
  EXPECT_FALSE(lines.ready());
  input.write("one\n\nthr");
  EXPECT_EQ(lines.next(), "one");
  EXPECT_TRUE(lines.ready());
  EXPECT_EQ(lines.next(), "");
  EXPECT_FALSE(lines.ready());
  input.write("ee");
  EXPECT_FALSE(lines.ready());
  input.close();
  EXPECT_TRUE(lines.ready());
  EXPECT_EQ(lines.next(), "three");
  EXPECT_FALSE(lines.ended());
  EXPECT_EQ(lines.next(), std::nullopt);
}

TEST(InputLines, AreWholeWhateverTheirLength) {
  TemporaryFolder folder;
  std::string text;
  std::vector<std::string> expected, found;
  for (const std::size_t size : {0, 1, 65535, 65536, 200000, 3, 0}) {
    expected.emplace_back(size, 'x');
    text += expected.back() + '\n';
  }
  replace_file(folder.path() / "a", text);
  InputLines lines(folder.path() / "a");
  while (const auto line = lines.next()) {
    EXPECT_TRUE(lines.ended());
    found.push_back(*line);
  }
  EXPECT_TRUE(found == expected);
}

}  // namespace
}  // namespace heed
