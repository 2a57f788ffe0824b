#include "base/input_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "base/error_of.h"
#include "base/files.h"
#include "base/packed.h"
#include "base/temporary_folder.h"

namespace heed {
namespace {

namespace fs = std::filesystem;
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
  EXPECT_EQ(read_file(link, 5, Allow::link), "12345");
  expect_error([&] { read_file(file, 4); }, Exit::store, {file.string(), "5", "4"});
  expect_error([&] { read_file(link, 5); }, Exit::store, {link.string()});
  expect_error([&] { read_file(pipe, 5); }, Exit::store, {pipe.string()});
  expect_error([&] { read_file(folder.path(), 5); }, Exit::store, {folder.path().string()});
  expect_error([&] { read_file(folder.path() / "no", 5, Allow::link); }, Exit::store,
               {(folder.path() / "no").string(), "No such file"});
}

TEST(InputFile, WhatNeverEndsStopsAtTheLimit) {
  for (const char* endless : {"/dev/zero", "/dev/urandom"})
    expect_error([&] { read_file(endless, 1000, Allow::anything); }, Exit::data, {endless});
  EXPECT_EQ(read_file("/dev/null", 0, Allow::anything), "");
  const NonBlockingInput input;
  input.write(std::string(2000, 'x'));
  expect_error([&] { read_file("-", 1000, Allow::anything); }, Exit::data, {"1000"});
  input.close();
}

TEST(InputFile, TextsAreUnpackedByWhatTheyHoldNotByTheirName) {
  TemporaryFolder folder;
  const fs::path file = folder.path() / "a.txt";
  const std::string padding(100'000, '\0');
  std::string text;  // some megabytes, so that it does not arrive in one piece
  for (int i = 0; i < 300'000; ++i) text += std::to_string(i) + "\n";
  for (const std::string& packed :
       {gzip(text), gzip("") + gzip(text), gzip(text) + padding, gzip("") + padding + gzip(text)}) {
    replace_file(file, packed);
    EXPECT_TRUE(read_file(file, 1 << 24, Allow::anything) == text);
    EXPECT_TRUE(read_file(file, 1 << 24, Allow::link) == packed);
    expect_error([&] { read_file(file, 1 << 20, Allow::anything); }, Exit::data, {"1048576"});
  }
  for (const std::string plain : {"", "\x1F", "\x1F\x8B?", "\xFD\x37zX", "text"}) {
    replace_file(file, plain);
    EXPECT_EQ(read_file(file, 100, Allow::anything), plain);
  }
  replace_file(file, std::string("\xFD\x37zXZ\0", 6) + text);
  for (const Allow allow : {Allow::anything, Allow::text})
    expect_error([&] { read_file(file, 1 << 24, allow); }, Exit::data, {file.string(), "xz -dc"});
}

TEST(InputFile, StandardInputThatDoesNotBlockIsWaitedForAndUnpacked) {
  const NonBlockingInput input;
  const std::string packed = gzip("one\ntwo\n");
  std::thread writer([&] {
    for (const char byte : packed) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      input.write({byte});
    }
    input.close();
  });
  InputLines lines("-", Allow::anything);
  EXPECT_EQ(lines.next(), "one");
  EXPECT_EQ(lines.next(), "two");
  EXPECT_EQ(lines.next(), std::nullopt);
  writer.join();
}

TEST(InputFile, APackedTextIsWholeOrAnError) {
  TemporaryFolder folder;
  const fs::path file = folder.path() / "a";
  const std::string text =
      "a text that is short, but long enough to be packed: " + std::string(99, 'x');
  const std::string packed = gzip(text);
  const std::size_t magic = 3;
  const auto read = [&](const std::string& bytes) {
    replace_file(file, bytes);
    return read_file(file, 1 << 20, Allow::anything);
  };
  EXPECT_EQ(read(packed), text);
  for (std::size_t n = magic; n < packed.size(); ++n)
    expect_error([&] { read(packed.substr(0, n)); }, Exit::data, {file.string()});
  expect_error([&] { read(packed + "more"); }, Exit::data, {file.string()});
  std::string damaged = packed;
  damaged[packed.size() / 2] = static_cast<char>(damaged[packed.size() / 2] ^ 1);
  expect_error([&] { read(damaged); }, Exit::data, {file.string()});
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
