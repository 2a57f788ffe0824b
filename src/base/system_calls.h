// The system calls that change a disk, in a table that tests replace to make calls fail.
#pragma once

#include <sys/types.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace heed {

// As the system has them: -1 and errno on failure.
class SystemCalls {
 public:
  virtual ~SystemCalls() = default;
  virtual int open(const char* path, int flags, mode_t mode);
  virtual ssize_t write(int fd, const void* bytes, std::size_t size);
  virtual int fsync(int fd);
  virtual int close(int fd);
  virtual int truncate(int fd, off_t size);
  virtual int mkdir(const char* path, mode_t mode);
  virtual int symlink(const char* target, const char* path);
  virtual int rename(const char* from, const char* to);
  virtual int exchange(const char* one, const char* other);  // both exist; atomic
  virtual int remove_all(const char* path);                  // does not follow symlinks
  // Bytes an unprivileged user may still write; -1 where the file system does not say.
  virtual std::int64_t free_bytes(const char* path);
};
// The real ones (stateless).
SystemCalls& system_calls();

// Makes a call again as long as a signal interrupts it.
template <class Call>
auto repeat_if_interrupted(Call call) {
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result;
}

}  // namespace heed
