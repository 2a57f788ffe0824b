#include "base/system_calls.h"

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

SystemCalls& system_calls() {
  static SystemCalls calls;
  return calls;
}

}  // namespace heed
