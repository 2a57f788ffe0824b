// The system calls that change a disk, behind virtual functions that tests override to make calls
// fail.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace heed {

// Like the system calls: -1 and errno on failure.
class SystemCalls {
 public:
  virtual ~SystemCalls() = default;
  virtual int open(const char* path, int flags, mode_t mode) { return ::open(path, flags, mode); }
  virtual ssize_t write(int fd, const void* bytes, std::size_t size) {
    return ::write(fd, bytes, size);
  }
  virtual int fsync(int fd) { return ::fsync(fd); }
  virtual int close(int fd) { return ::close(fd); }
  virtual int truncate(int fd, off_t size) { return ::ftruncate(fd, size); }
  virtual int mkdir(const char* path, mode_t mode) { return ::mkdir(path, mode); }
  virtual int symlink(const char* target, const char* path) { return ::symlink(target, path); }
  virtual int link(const char* file, const char* path) { return ::link(file, path); }
  virtual int rename(const char* from, const char* to) { return ::rename(from, to); }
  virtual int remove_all(const char* path);  // does not follow symlinks
};
// The real ones (stateless).
SystemCalls& system_calls();

// Repeats a call while a signal interrupts it.
template <class Call>
auto repeat_if_interrupted(Call call) {
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result;
}

}  // namespace heed
