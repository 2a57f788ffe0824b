#include "base/pool.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <system_error>
#include <utility>

#include "base/cgroup.h"
#include "base/error.h"
#include "base/std_names.h"

namespace heed {
namespace {

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

// Spins while `value` is `old`, for at most about 50 microseconds.
template <class T>
void spin_while(const atomic<T>& value, T old) {
  const auto end = chrono::steady_clock::now() + chrono::microseconds(50);
  while (value.load(std::memory_order_acquire) == old) {
    for (int i = 0; i < 32; ++i) relax();
    if (chrono::steady_clock::now() > end) return;
  }
}

}  // namespace

int available_cores() {
  int cores = std::thread::hardware_concurrency();
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) cores = CPU_COUNT(&set);
  return max<int>(1, min<double>(cores, std::ceil(cgroup_cores())));
}

Pool::Pool(int threads, int cores) {
  // With more threads than cores, spinning would take time from working threads.
  spin_ = threads <= cores;
  try {
    for (int i = 1; i < threads; ++i) workers_.emplace_back([this, i] { work(i); });
  } catch (const std::system_error& e) {
    stop();
    throw Error(Exit::memory, "cannot start " + to_string(threads) + " threads: " + e.what(),
                kMoreThreads);
  }
}

Pool::~Pool() {
  stop();
}

void Pool::stop() {
  stop_ = true;
  round_.fetch_add(1);
  round_.notify_all();
  for (std::thread& t : workers_) t.join();
}

void Pool::take_tasks(int worker) {
  for (int task; (task = next_.fetch_add(1)) < tasks_;) {
    try {
      (*task_)(task, worker);
    } catch (...) {
      if (!failed_.exchange(true)) error_ = std::current_exception();
    }
  }
}

void Pool::work(int worker) {
  uint32_t seen = 0;
  while (true) {
    if (spin_) spin_while(round_, seen);
    while (round_.load(std::memory_order_acquire) == seen) round_.wait(seen);
    ++seen;
    if (stop_) return;
    take_tasks(worker);
    if (busy_.fetch_sub(1) == 1) busy_.notify_one();
  }
}

void Pool::run_tasks(int tasks, const function<void(int, int)>& f) {
  task_ = &f;
  tasks_ = tasks;
  next_ = 0;
  failed_ = false;
  if (workers_.empty() || tasks == 1) {
    take_tasks(0);
  } else {
    busy_ = workers_.size();
    round_.fetch_add(1);
    round_.notify_all();
    take_tasks(0);
    for (int left; (left = busy_.load()) > 0;) {
      if (spin_) spin_while(busy_, left);
      if (busy_.load() == left) busy_.wait(left);
    }
  }
  if (failed_) std::rethrow_exception(exchange(error_, nullptr));
}

}  // namespace heed
