// Writing files that are on the disk when the call returns, and what to say of files that fail.
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

// What fails because this user may not: nothing is said of what is there.
class NoPermission : public Error {
  using Error::Error;
};

// A path as messages show it.
std::string quoted_path(const std::filesystem::path& path);
// "cannot write /a/b: No space left on device", with a hint where one helps.
[[noreturn]] void throw_file_error(std::string_view operation, const std::filesystem::path& path,
                                   int error, Exit exit = Exit::store);

// Before a file is made or grown: Error if what is there is a symbolic link (to who knows what) or
// a pipe (which may have no reader, and would block).
void refuse_link_or_pipe(const std::filesystem::path& path);

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
