// The time, and where it goes: while `profiling`, each thread adds the time of each kind of work to
// the sums of the process. Kinds nest: time inside an inner Timed counts for the inner kind only.
// While nothing is measured a Timed costs one branch.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <utility>

#include "base/std_names.h"

namespace heed {

// A monotonic clock, for measuring durations.
inline double seconds_now() {
  return chrono::duration<double>(chrono::steady_clock::now().time_since_epoch()).count();
}

enum class Work : int {
  linear_forward,
  linear_backward,
  attention,
  loss,
  other_layers,
  gradient_sum,
  optimizer,
  waiting,
  count,
};

inline constexpr array<const char*, int(Work::count)> kWorkNames = {
    "linear_forward", "linear_backward", "attention", "loss",
    "other_layers",   "gradient_sum",    "optimizer", "waiting"};

inline atomic<bool> profiling{false};
inline array<atomic<uint64_t>, kWorkNames.size()> work_ns{};

class Timed {
 public:
  explicit Timed(Work work) : measures_(profiling.load(std::memory_order_relaxed)) {
    if (measures_) outer_ = change_to(work);
  }
  ~Timed() {
    if (measures_) change_to(outer_);
  }
  Timed& operator=(Timed&&) = delete;  // nor copied

 private:
  // Adds the time since the thread's last change to its current work, then makes `work` current.
  // Returns the previous work.
  static Work change_to(Work work) {
    using Clock = chrono::steady_clock;
    thread_local Work current = Work::count;  // count: none
    thread_local Clock::time_point since;
    const Clock::time_point now = Clock::now();
    if (current != Work::count) work_ns[int(current)] += (now - since).count();
    since = now;
    return exchange(current, work);
  }

  bool measures_;
  Work outer_ = Work::count;
};

}  // namespace heed
