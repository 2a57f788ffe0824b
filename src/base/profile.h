// Where the time goes: one Profile per thread adds up ticks by kind of work. A null Profile costs
// one branch. Kinds do not nest: a Timed inside another one is counted in both.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>

namespace heed {

enum class Work : int {
  gemm_forward,
  gemm_input_gradient,
  gemm_weight_gradient,
  attention,
  norms_activations,
  loss,
  dropout,
  gradient_sum,
  optimizer,
  waiting,
  count,
};

inline constexpr std::array<const char*, static_cast<int>(Work::count)> kWorkNames = {
    "gemm_forward", "gemm_input_gradient", "gemm_weight_gradient",
    "attention",    "norms_activations",   "loss",
    "dropout",      "gradient_sum",        "optimizer",
    "waiting"};

struct Profile {
  std::array<std::uint64_t, static_cast<int>(Work::count)> ns{};
};

class Timed {
 public:
  Timed(Profile* profile, Work work) : profile_(profile), work_(work) {
    if (profile_) begin_ = std::chrono::steady_clock::now();
  }
  ~Timed() {
    if (profile_) {
      const auto d = std::chrono::steady_clock::now() - begin_;
      profile_->ns[static_cast<int>(work_)] += static_cast<std::uint64_t>(d.count());
    }
  }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  Profile* profile_;
  Work work_;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace heed
