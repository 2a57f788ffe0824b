#include "base/system_calls.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace heed {

int SystemCalls::open(const char* path, int flags, mode_t mode) {
  return ::open(path, flags, mode);
}
ssize_t SystemCalls::write(int fd, const void* bytes, std::size_t size) {
  return ::write(fd, bytes, size);
}
int SystemCalls::fsync(int fd) {
  return ::fsync(fd);
}
int SystemCalls::close(int fd) {
  return ::close(fd);
}
int SystemCalls::truncate(int fd, off_t size) {
  return ::ftruncate(fd, size);
}
int SystemCalls::mkdir(const char* path, mode_t mode) {
  return ::mkdir(path, mode);
}
int SystemCalls::symlink(const char* target, const char* path) {
  return ::symlink(target, path);
}
int SystemCalls::rename(const char* from, const char* to) {
  return ::rename(from, to);
}
int SystemCalls::exchange(const char* one, const char* other) {
  return ::renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE);
}
int SystemCalls::remove_all(const char* path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (!error) return 0;
  errno = error.value();
  return -1;
}
std::int64_t SystemCalls::free_bytes(const char* path) {
  struct statvfs info;
  if (::statvfs(path, &info) != 0 || info.f_blocks == 0) return -1;
  return static_cast<std::int64_t>(info.f_bavail) * static_cast<std::int64_t>(info.f_frsize);
}

SystemCalls& system_calls() {
  static SystemCalls calls;
  return calls;
}

}  // namespace heed
