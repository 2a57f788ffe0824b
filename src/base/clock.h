// A monotonic clock in seconds, for measuring durations; and the time of day.
#pragma once

#include <chrono>
#include <ctime>
#include <string>

namespace heed {

inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Date, time and time zone: "2026-11-22T14:03:05+0100".
inline std::string date_and_time() {
  const std::time_t now = std::time(nullptr);
  std::tm parts = {};
  char text[64];
  ::localtime_r(&now, &parts);
  return {text, std::strftime(text, sizeof text, "%FT%T%z", &parts)};
}

}  // namespace heed
