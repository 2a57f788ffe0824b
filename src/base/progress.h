// The progress bar of a terminal as a line of text.
#pragma once

#include <cstdint>
#include <string>

namespace heed {

struct Progress {
  std::int64_t done = 0;
  std::int64_t total = 0;   // 0: not known
  std::string status;       // "loss 1.82 | 48.2k tok/s" (ASCII)
  double eta_seconds = -1;  // below 0: not known
};

// The bar for a terminal of `width` columns, always shorter than that. If space is short, the
// status is left out first, then the remaining time.
std::string progress_line(const Progress& progress, int width);

}  // namespace heed
