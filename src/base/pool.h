// A fixed set of worker threads that run numbered tasks.
//
// run(n, f) calls f(task, worker) once for every task in 0..n-1, on any thread, and returns when
// all are done. The caller works too, as worker 0. Tasks are taken in order from a shared counter;
// which thread runs which task is not fixed, so results must not depend on it. Waiting threads spin
// for tens of microseconds, then sleep. An exception in a task is rethrown by run() after all
// tasks have ended. One thread at a time may call run(), and not from within a task.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

#include "base/std_names.h"

namespace heed {

// What to try if a thread cannot be started.
inline constexpr const char* kMoreThreads =
    "fewer --threads, or more room for them: ulimit -u, ulimit -v, pids.max of the control group";

// The number of cores that this process may use, at least 1: those of its affinity mask, limited by
// the quota of its control group.
int available_cores();

class Pool {
 public:
  // threads >= 1, including the caller. `cores`: of this process. Error (memory) if the system
  // cannot start them.
  explicit Pool(int threads, int cores = available_cores());
  ~Pool();

  int threads() const { return workers_.size() + 1; }

  template <class F>
  void run(int tasks, F&& f) {
    run_tasks(tasks, std::ref(f));
  }

 private:
  void run_tasks(int tasks, const function<void(int, int)>& f);
  void work(int worker);
  void stop();
  void take_tasks(int worker);

  vector<std::thread> workers_;
  const function<void(int, int)>* task_ = nullptr;
  int tasks_ = 0;
  bool spin_ = true;
  atomic<int> next_{0};
  atomic<int> busy_{0};
  atomic<uint32_t> round_{0};  // each run() is a round
  atomic<bool> stop_{false};
  atomic<bool> failed_{false};
  std::exception_ptr error_;
};

}  // namespace heed
