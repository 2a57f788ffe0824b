#include "base/clock.h"

#include <ctime>

namespace heed {

std::string date_and_time() {
  const std::time_t now = std::time(nullptr);
  std::tm parts = {};
  char text[64];
  ::localtime_r(&now, &parts);
  return {text, std::strftime(text, sizeof text, "%FT%T%z", &parts)};
}

}  // namespace heed
