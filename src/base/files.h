// Writing files durably: they are on the disk when finish() or sync() returns.
//
// Every function throws Error (Exit::store by default) with the operation, the path and the
// system's reason. There is no state between calls, so any number of threads may write different
// files. Interrupted calls (EINTR) are repeated, short writes are continued. All changes to the
// disk go through SystemCalls, which tests replace to make calls fail.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/system_calls.h"

namespace heed {

// A file that may be intact but cannot be read here: this user lacks permission, or another version
// of heed wrote it.
class Unreadable : public Error {
  using Error::Error;
};

// A path in quotes, for messages.
std::string quoted_path(const std::filesystem::path& path);
// "cannot write /a/b: No space left on device", with a hint for common errors.
[[noreturn]] void throw_file_error(std::string_view operation, const std::filesystem::path& path,
                                   int error, Exit exit = Exit::store);

// Call before creating or extending a file. Error if the path is a symbolic link (to an unknown
// target) or a pipe (which blocks without a reader).
void refuse_link_or_pipe(const std::filesystem::path& path);

// Is the open file what has this name?
bool is_same_file(int fd, const std::filesystem::path& path);

// A new file, which replaces an old one. It is complete once finish() has returned. Errors name
// `named`: the final name of a temporary file.
class OutputFile {
 public:
  explicit OutputFile(const std::filesystem::path& path, SystemCalls& calls = system_calls());
  // One that must not exist yet.
  OutputFile(const std::filesystem::path& path, SystemCalls& calls,
             const std::filesystem::path& named, mode_t mode);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  void sync();
  void finish();  // fsync and close

 protected:
  OutputFile(std::string_view operation, int flag, const std::filesystem::path& path,
             const std::filesystem::path& named, SystemCalls& calls, mode_t mode = 0666);

  std::filesystem::path path_;  // in errors
  SystemCalls& calls_;
  int fd_;
};

// A file that grows by whole lines (metrics). A partly written line is removed again.
// append_line() and sync() may be called from two threads.
class AppendFile : private OutputFile {
 public:
  explicit AppendFile(const std::filesystem::path& path, SystemCalls& calls = system_calls());

  void append_line(std::string_view line);  // without its newline
  using OutputFile::sync;
};

}  // namespace heed
