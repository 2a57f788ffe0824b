// An exclusive lock on a run folder, held through the file RUN/.lock (flock), which carries the
// holder's process id. The kernel releases it when the process ends, however it ends; programs
// that the process starts do not inherit it.
#pragma once

#include <filesystem>

namespace heed {

// Does a process write this run? Changes nothing.
bool is_locked(const std::filesystem::path& run);

class RunLock {
 public:
  // Error (Exit::usage) with the holder's process id if another has it.
  explicit RunLock(const std::filesystem::path& run);
  ~RunLock();
  RunLock(RunLock&& other) noexcept;
  RunLock& operator=(RunLock&&) = delete;

  // Error (Exit::store) unless `run` is the folder that was locked: it may have been moved or
  // removed, and another be in its place.
  void require_held(const std::filesystem::path& run) const;

 private:
  int fd_ = -1;
};

}  // namespace heed
