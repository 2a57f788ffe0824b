// Writing files durably: they are on the disk when finish() or sync() returns.
//
// Every function throws Error (Exit::store by default) with the operation, the path and the
// system's reason. There is no state between calls, so any number of threads may write different
// files. Interrupted calls (EINTR) are repeated, short writes are continued. All calls on the files
// of a run go through SystemCalls, which tests replace to make calls fail.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace heed {

// The system calls behind virtual functions, which tests override to make calls fail. On failure -1
// and errno, as theirs.
class SystemCalls {
 public:
  virtual ~SystemCalls() = default;
  virtual int open(const char* path, int flags, mode_t mode) { return ::open(path, flags, mode); }
  virtual ssize_t read(int fd, void* bytes, std::size_t size) { return ::read(fd, bytes, size); }
  virtual off_t seek(int fd, off_t to, int from) { return ::lseek(fd, to, from); }
  virtual int status(int fd, struct stat* found) { return ::fstat(fd, found); }
  virtual int status(const char* path, struct stat* found) { return ::lstat(path, found); }
  virtual int list(const char* folder, std::vector<std::string>& names);
  virtual ssize_t write(int fd, const void* bytes, std::size_t size) {
    return ::write(fd, bytes, size);
  }
  virtual int fsync(int fd) { return ::fsync(fd); }
  virtual int close(int fd) { return ::close(fd); }
  virtual int truncate(int fd, off_t size) { return ::ftruncate(fd, size); }
  virtual int mkdir(const char* path, mode_t mode) { return ::mkdir(path, mode); }
  virtual int symlink(const char* target, const char* path) { return ::symlink(target, path); }
  virtual int rename(const char* from, const char* to) { return ::rename(from, to); }
  virtual int rename_new(const char* from, const char* to);  // EEXIST if `to` is there
  virtual int remove_all(const char* path);                  // does not follow symlinks
};
// Those in use: the real ones, which are stateless, unless a test replaces them.
SystemCalls& system_calls();
SystemCalls& use_system_calls(SystemCalls& calls);  // returns those before

// Repeats a call while a signal interrupts it.
template <class Call>
auto repeat_if_interrupted(Call call) {
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result;
}

// A file that may be intact but cannot be read here and now, whatever the system's reason, or that
// another version of heed wrote. Damage is another Error: what was read and is wrong, a file that
// its folder, listed, does not name, and what is no plain file.
class Unreadable : public Error {
 public:
  using Error::Error;
  explicit Unreadable(const Error& error) : Error(error) {}
};

// The bytes of a number, as files have them: the lowest first.
template <class T>
std::string bytes_of(T number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

// A path in quotes, for messages.
std::string quoted_path(const std::filesystem::path& path);
// "cannot write /a/b: No space left on device", with a hint for common errors. It is Unreadable.
[[noreturn]] void throw_file_error(std::string_view operation, const std::filesystem::path& path,
                                   int error, Exit exit = Exit::store);

// Call before creating or extending a file. Error if the path is a symbolic link (to an unknown
// target) or a pipe (which blocks without a reader).
void refuse_link_or_pipe(const std::filesystem::path& path);

// Does the open file still have this name? Yes, where that cannot be looked at.
bool is_same_file(int fd, const std::filesystem::path& path);

// A new file, which replaces an old one. It is complete once finish() has returned. Errors name
// `named`: the final name of a temporary file.
class OutputFile {
 public:
  explicit OutputFile(const std::filesystem::path& path);
  // One that must not exist yet.
  OutputFile(const std::filesystem::path& path, const std::filesystem::path& named, mode_t mode);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  void sync();
  void finish();  // fsync and close

 protected:
  OutputFile(std::string_view operation, int flag, const std::filesystem::path& path,
             const std::filesystem::path& named, mode_t mode = 0666);

  std::filesystem::path path_;  // in errors
  int fd_;
};

// A file that grows by whole lines (metrics). A partly written line is removed again.
// append_line() and sync() may be called from two threads.
class AppendFile : private OutputFile {
 public:
  explicit AppendFile(const std::filesystem::path& path);

  void append_line(std::string_view line);  // without its newline
  using OutputFile::sync;
};

}  // namespace heed
