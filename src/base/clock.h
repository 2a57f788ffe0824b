// A monotonic clock in seconds, for measuring durations; and the time of day.
#pragma once

#include <chrono>
#include <string>

namespace heed {

inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Date, time and time zone: "2026-11-22T14:03:05+0100".
std::string date_and_time();

}  // namespace heed
