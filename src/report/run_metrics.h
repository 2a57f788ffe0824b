// metrics.jsonl of a run, for those who look at it afterwards. Lines that are torn or no events are
// left out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "train/learning_record.h"

namespace heed {

// Numbers of the events of one kind, by name: x[i] is of the event of steps[i], NaN if it has none.
struct Curves {
  std::vector<std::int64_t> steps;
  std::map<std::string, std::vector<float>> numbers;
};

struct LearningStep {
  std::int64_t step = 0;
  bool moved = true;  // the learning rate was not 0
  Learning learning;
};
// {"step", "matrices", "entropy"}
nlohmann::ordered_json json_of(const LearningStep& record);

struct RunMetrics {
  Curves train;                        // loss, learning_rate, gradient_norm, tokens_per_second
  Curves valid;                        // loss, accuracy, bleu
  std::vector<LearningStep> learning;  // those with the matrices and heads of the last one
};

// Of the events up to `step`, oldest first; empty if there is no such file.
RunMetrics read_metrics(const std::filesystem::path& run, std::int64_t step);

}  // namespace heed
