// How fast a run trains here, measured on a throw-away training of the same model and data:
// `heed bench` prints it, and `heed train TEXT` plans with it. Nothing of it enters a run.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "base/profile.h"
#include "base/std_names.h"
#include "train/prepared_run.h"

namespace heed {

struct Speed {
  int64_t steps = 0;             // measured
  double step_seconds = 0;       // of a step, the median
  double tokens = 0, flops = 0;  // of a step, means
  // Of a step that several processes share: bytes that all send, and by the formula; seconds that
  // this one spends with messages, waiting included.
  double bytes_sent = 0, step_bytes = 0, message_seconds = 0;
  // Nanoseconds of all threads together; waiting is the rest of wall time times threads.
  array<double, kWorkNames.size()> work_ns{};
};

// Takes steps until `enough`, called after each with its number and the seconds since the
// beginning, returns true. Two warm-up steps come first, numbered -1 and 0; they count only if no
// others follow. Of several processes the first says what is enough.
Speed measure_speed(const PreparedRun& run,
                    const function<bool(int64_t steps, double seconds)>& enough);

// GFLOP/s of large products, one per thread at a time, summed over the threads: what training could
// reach. The median over `seconds` seconds.
double measure_sgemm(int threads, double seconds);

}  // namespace heed
