// Seconds of a clock that never goes back, for measuring durations.
#pragma once

#include <chrono>

namespace heed {

inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace heed
