#include "show/frame_calendar.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

namespace heed {
namespace {

constexpr double kFewestStretches = 8, kMostStretches = 24;
constexpr double kShare = 0.02;  // of the steps

bool is_power_of_two(std::int64_t step) {  // or 0
  return step == 0 || std::has_single_bit(static_cast<std::uint64_t>(step));
}

// The length of the stretches in which the first validation has a frame, at a step.
std::int64_t stretch(std::int64_t step, double cost) {
  const double now = static_cast<double>(step);
  const double length =
      std::max(now / kMostStretches, std::min(now / kFewestStretches, cost / kShare));
  return static_cast<std::int64_t>(
      std::bit_ceil(static_cast<std::uint64_t>(std::ceil(std::max(1.0, length)))));
}

}  // namespace

bool is_frame(const std::vector<FrameStep>& film, std::int64_t step, bool validated, double cost) {
  if (!film.empty() && step <= film.back().step) return false;
  if (is_power_of_two(step)) return true;
  const auto before = std::find_if(film.rbegin(), film.rend(), std::mem_fn(&FrameStep::validated));
  const std::int64_t length = stretch(step, cost);
  return validated && (before == film.rend() || before->step / length < step / length);
}

std::set<std::int64_t> surplus(const std::vector<FrameStep>& film, double cost) {
  std::set<std::int64_t> steps;
  const std::int64_t length = stretch(film.back().step, cost);
  std::int64_t last = -1;  // stretch with a validation
  for (const FrameStep& frame : film) {
    if (!frame.validated) continue;
    if (frame.step / length == last && !is_power_of_two(frame.step)) steps.insert(frame.step);
    last = frame.step / length;
  }
  return steps;
}

}  // namespace heed
