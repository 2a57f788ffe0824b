// Reads metrics.jsonl of a run. Incomplete lines and lines that are not events are skipped.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "evaluate/yardsticks.h"
#include "train/learning_record.h"
#include "train/loss_curves.h"

namespace heed {

// The numbers of the events of one kind, by name: x[i] belongs to steps[i]; NaN if it is missing.
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
  std::vector<LearningStep> learning;  // records with the same matrices and heads as the last one
  Yardsticks yardsticks;
  LossCurves losses;  // those that are numbers
};

// The events up to `step`, oldest first; empty if there is no such file.
RunMetrics read_metrics(const std::filesystem::path& run, std::int64_t step);

}  // namespace heed
