// System calls that fail on request: the N-th call, once or from then on, with a given errno.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <string>

#include "base/files.h"
#include "base/temporary_folder.h"

namespace heed {

// In use as long as it lives.
class TestCalls : public SystemCalls {
 public:
  TestCalls() : before_(use_system_calls(*this)) {}
  ~TestCalls() override { use_system_calls(before_); }
  TestCalls(const TestCalls&) = delete;

 private:
  SystemCalls& before_;
};

struct Fault {
  int reason = ENOSPC;        // errno
  bool for_good = false;      // every later call fails too
  bool short_writes = false;  // at most 7 bytes at a time
  bool deadly = false;        // the process ends in the place of the call, with 9
};

class FaultyCalls : public TestCalls, public Fault {
 public:
  explicit FaultyCalls(const Fault& fault = {}) : Fault(fault) {}

  bool reading = false;  // calls that only read fail too
  int fail_at = 0;       // this call fails, counted from 1; 0: no call

  int calls = 0;                // so far
  int failures = 0;             // so far
  std::set<std::string> kinds;  // that failed

  int open(const char* path, int flags, mode_t mode) override {
    const bool writes = (flags & (O_WRONLY | O_RDWR | O_DIRECTORY)) != 0;
    return (writes || reading) && fails("open") ? -1 : SystemCalls::open(path, flags, mode);
  }
  ssize_t read(int fd, void* bytes, std::size_t size) override {
    return reading && fails("read") ? -1 : SystemCalls::read(fd, bytes, size);
  }
  off_t seek(int fd, off_t to, int from) override {
    return reading && fails("seek") ? -1 : SystemCalls::seek(fd, to, from);
  }
  int status(int fd, struct stat* found) override {
    return reading && fails("status") ? -1 : SystemCalls::status(fd, found);
  }
  int status(const char* path, struct stat* found) override {
    return reading && fails("look") ? -1 : SystemCalls::status(path, found);
  }
  int list(const char* folder, std::vector<std::string>& names) override {
    return reading && fails("list") ? -1 : SystemCalls::list(folder, names);
  }
  ssize_t write(int fd, const void* bytes, std::size_t size) override {
    if (fails("write")) return -1;
    return SystemCalls::write(fd, bytes, short_writes ? std::min<std::size_t>(size, 7) : size);
  }
  // Not the real one: tests kill no machines, and it is slow.
  int fsync(int) override { return fails("fsync") ? -1 : 0; }
  int close(int fd) override {
    const int result = SystemCalls::close(fd);  // a failing close still closes
    return fails("close") ? -1 : result;
  }
  int mkdir(const char* path, mode_t mode) override {
    return fails("mkdir") ? -1 : SystemCalls::mkdir(path, mode);
  }
  int symlink(const char* target, const char* path) override {
    return fails("symlink") ? -1 : SystemCalls::symlink(target, path);
  }
  int rename(const char* from, const char* to) override {
    return fails("rename") ? -1 : SystemCalls::rename(from, to);
  }
  int rename_new(const char* from, const char* to) override {
    return fails("rename") ? -1 : SystemCalls::rename_new(from, to);
  }
  int remove_all(const char* path) override {
    return fails("remove") ? -1 : SystemCalls::remove_all(path);
  }

 private:
  bool fails(const char* kind) {
    ++calls;
    if (fail_at == 0 || calls < fail_at || (calls > fail_at && !for_good)) return false;
    if (deadly) ::_exit(9);
    ++failures;
    kinds.insert(kind);
    errno = reason;
    return true;
  }
};

// Calls body(folder, calls, begin) with a new folder each time: of its calls after begin() the N-th
// fails, N = 1, 2, ... until none does. Returns the kinds of calls that failed.
template <class Body>
std::set<std::string> for_each_failure(const Fault& fault, Body&& body) {
  std::set<std::string> kinds;
  int failures = 1;
  for (int n = 1; failures > 0 && n < 2000; ++n) {
    SCOPED_TRACE("call " + std::to_string(n));
    const TemporaryFolder folder;
    FaultyCalls calls(fault);
    body(folder.path(), calls, [&] {
      calls.calls = 0;
      calls.fail_at = n;
    });
    failures = calls.failures;
    kinds.merge(calls.kinds);
  }
  EXPECT_EQ(failures, 0);
  return kinds;
}

}  // namespace heed
