// How fast training is on this machine, and how fast it could be.
#pragma once

#include <cstdint>

#include "base/profile.h"
#include "data/run_config.h"

namespace heed {

struct BenchResult {
  std::int64_t steps = 0;
  double tokens_per_second = 0;  // medians over the steps
  double steps_per_second = 0;
  double gflop_per_step = 0;  // exact, mean
  double gflops = 0;
  double sgemm_gflops = 0;  // of the same number of threads
  double utilisation = 0;   // gflops / sgemm_gflops
  double peak_rss_mib = 0;  // before sgemm is measured
  double wall_seconds = 0;
  int threads = 0;
  Profile profile;  // of all threads; waiting is the rest of wall time times threads
};

// Takes `steps` real steps after a warm-up; 0: as many as fit into a few seconds. Saves nothing.
BenchResult run_bench(const RunConfig& config, const std::string& folder, std::int64_t steps,
                      int threads);

}  // namespace heed
