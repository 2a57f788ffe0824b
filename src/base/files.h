// Bytes of files: reading with limits, and writing that is on the disk when it returns.
//
// Every function throws Error (Exit::store unless told otherwise) that names the operation, the
// path and the system's reason. Nothing here keeps state between calls, so any number of threads
// may write different files. Interrupted calls (EINTR) are repeated, short writes continued.
// What changes the disk goes through a SystemCalls, which tests replace to make calls fail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/system_calls.h"

namespace heed {

// A path as messages show it.
std::string quoted_path(const std::filesystem::path& path);
// "cannot write /a/b: No space left on device", with a hint where one helps.
[[noreturn]] void throw_file_error(std::string_view operation, const std::filesystem::path& path,
                                   int error, Exit exit = Exit::store);

// Before a file is made or grown: Error if what is there is a symbolic link (to who knows what) or
// a pipe (which may have no reader, and would block).
void refuse_link_or_pipe(const std::filesystem::path& path);

// A regular file open for reading. Anything else (folder, pipe, device) is refused.
class InputFile {
 public:
  enum class Links { follow, refuse };
  explicit InputFile(const std::filesystem::path& path, Links links = Links::follow,
                     Exit exit = Exit::store);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  std::uint64_t size() const { return size_; }  // when it was opened
  // The next bytes; fewer only at the end of the file.
  std::size_t read(std::span<std::byte> bytes);
  // The next bytes, all of them, else an Error that says the file ended early.
  void read_exactly(std::span<std::byte> bytes);

 private:
  std::filesystem::path path_;
  Exit exit_;
  int fd_ = -1;
  std::uint64_t size_ = 0;
};

// All bytes of a regular file of at most `limit` bytes.
std::string read_file(const std::filesystem::path& path, std::uint64_t limit,
                      InputFile::Links links = InputFile::Links::follow, Exit exit = Exit::store);

// A new file being written, in place of any old one. Unless finish() returned, it is not whole.
class OutputFile {
 public:
  explicit OutputFile(const std::filesystem::path& path, SystemCalls& calls = system_calls());
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  void finish();  // fsync and close

 private:
  std::filesystem::path path_;
  SystemCalls& calls_;
  int fd_ = -1;
};

// A file that grows by whole lines (metrics). A line that could not be written whole is taken back.
// append() and sync() may be called from two threads.
class AppendFile {
 public:
  explicit AppendFile(const std::filesystem::path& path, SystemCalls& calls = system_calls());
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  void append_line(std::string_view line);  // without its newline
  void sync();

 private:
  std::filesystem::path path_;
  SystemCalls& calls_;
  int fd_ = -1;
};

}  // namespace heed
