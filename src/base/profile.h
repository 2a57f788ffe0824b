// Where the time goes: one Profile per thread sums the time of each kind of work. Kinds
// nest: time inside an inner Timed counts for the inner kind only. A null Profile costs one branch.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <utility>

namespace heed {

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

inline constexpr std::array<const char*, static_cast<int>(Work::count)> kWorkNames = {
    "linear_forward", "linear_backward", "attention", "loss",
    "other_layers",   "gradient_sum",    "optimizer", "waiting"};

struct Profile {
  using Clock = std::chrono::steady_clock;

  std::array<std::uint64_t, static_cast<int>(Work::count)> ns{};
  Work current = Work::count;  // count: none
  Clock::time_point since;

  // Adds the time since the last change to the current work, then makes `work` current. Returns
  // the previous work.
  Work change_to(Work work) {
    const Clock::time_point now = Clock::now();
    if (current != Work::count)
      ns[static_cast<int>(current)] += static_cast<std::uint64_t>((now - since).count());
    since = now;
    return std::exchange(current, work);
  }
};

class Timed {
 public:
  Timed(Profile* profile, Work work) : profile_(profile) {
    if (profile_) outer_ = profile_->change_to(work);
  }
  ~Timed() {
    if (profile_) profile_->change_to(outer_);
  }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  Profile* profile_;
  Work outer_ = Work::count;
};

}  // namespace heed
