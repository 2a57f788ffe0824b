// Averaging the weights of several checkpoints of a run into a new one, checkpoints/average-A-B,
// where A and B are the first and last of their steps: an exported model that all commands read
// but that cannot be resumed.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace heed {

struct AverageRequest {
  std::string run;
  int last = 0;  // how many of the newest, or
  int best = 0;  // how many of those with the best validation (store/best.h)
};

struct Averaged {
  std::vector<std::int64_t> steps;  // ascending
  std::filesystem::path folder;
};

// Takes the run's lock. Error (usage) if there are fewer (it lists them), or if another average has
// the name.
Averaged average_checkpoints(const AverageRequest& request);

}  // namespace heed
