// The progress bar and lines of fields, fitted to a terminal of `width` columns.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heed {

struct Progress {
  std::int64_t done = 0;
  std::int64_t total = 0;   // 0: not known
  std::string status;       // "loss 1.82 | 48.2k tok/s" (ASCII)
  double eta_seconds = -1;  // below 0: not known
};

// The bar, always narrower than the terminal. If space is short, the status is dropped first, then
// the remaining time.
std::string progress_line(const Progress& progress, int width);

// "step 10 | ep 1.0 | loss 2.1 | ppl 8.2 | eta 3m": if it is too long, fields are dropped from the
// right. The first one, the loss and the last one (the remaining time, or a verdict) stay.
std::string fitting_fields(std::string_view line, int width);

}  // namespace heed
