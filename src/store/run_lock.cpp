#include "store/run_lock.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "base/files.h"
#include "base/folders.h"
#include "store/layout.h"

namespace heed {
namespace fs = std::filesystem;
namespace {

std::string holder(int fd) {
  char text[32];
  const ssize_t n = ::pread(fd, text, sizeof text, 0);
  std::string pid(text, n > 0 ? static_cast<std::size_t>(n) : 0);
  pid.resize(std::min(pid.size(), pid.find_first_not_of("0123456789")));
  return pid.empty() ? "another process" : "process " + pid;
}

int open_and_lock(const fs::path& run, const fs::path& path) {
  refuse_link_or_pipe(path);
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (fd < 0) throw_file_error("lock", path, errno);
  for (int left = 5;; --left) {
    if (repeat_if_interrupted([&] { return ::flock(fd, LOCK_EX | LOCK_NB); }) == 0) return fd;
    if (errno != EWOULDBLOCK || left == 0) break;
    ::usleep(10'000);  // is_locked() holds it for a moment
  }
  const int error = errno;
  const std::string who = holder(fd);
  ::close(fd);
  if (error == ENOLCK || error == EOPNOTSUPP || error == ENOSYS)
    throw Error(Exit::store,
                fmt::format("cannot lock {}: its file system has no locks ({}), without which two "
                            "processes could write one run",
                            quoted_path(path), std::generic_category().message(error)),
                "a run folder on a local disk");
  if (error != EWOULDBLOCK) throw_file_error("lock", path, error);
  throw Error(Exit::usage,
              fmt::format("{} is writing {} (lock {})", who, quoted_path(run), path.string()),
              "wait until it is done, or stop it");
}

}  // namespace

bool is_locked(const fs::path& run) {
  const int fd = ::open((run / kLockFile).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return false;
  const bool locked = ::flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(fd);
  return locked;
}

RunLock::RunLock(const fs::path& run) {
  const fs::path path = run / kLockFile;
  fd_ = open_and_lock(run, path);
  while (!is_same_file(fd_, path)) {
    ::close(fd_);
    fd_ = -1;
    fd_ = open_and_lock(run, path);
  }
  // For the message above; the lock holds even if this cannot be written.
  const std::string pid = fmt::format("{}\n", ::getpid());
  if (::ftruncate(fd_, 0) == 0) (void)!::pwrite(fd_, pid.data(), pid.size(), 0);
}

RunLock::~RunLock() {
  if (fd_ >= 0) ::close(fd_);
}

void RunLock::require_held(const fs::path& run) const {
  if (is_same_file(fd_, run / kLockFile)) return;
  throw Error(
      Exit::store,
      fmt::format("the run folder {} was moved or removed while the run trained", quoted_path(run)),
      "heed resume where it is now, which goes on from its last checkpoint");
}

RunLock::RunLock(RunLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

}  // namespace heed
