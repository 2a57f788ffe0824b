// Averaging the weights of several checkpoints of a run into a new one, checkpoints/average-A-B,
// where A and B are the first and last of their steps: an exported model that everything reads and
// that cannot be resumed.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace heed {

struct AverageRequest {
  std::string run;
  int last = 0;  // the newest so many, or
  int best = 0;  // those with the best validation in metrics.jsonl
};

struct Averaged {
  std::vector<std::int64_t> steps;  // ascending
  std::filesystem::path folder;
};

// Error (usage) that lists what there is if there are fewer, or if another average has the name;
// takes the run's lock.
Averaged average_checkpoints(const AverageRequest& request);

}  // namespace heed
