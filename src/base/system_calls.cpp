#include "base/system_calls.h"

#include <sys/statvfs.h>

#include <filesystem>
#include <system_error>

namespace heed {

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
