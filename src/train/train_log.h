// What training reports: lines of train.log and objects of metrics.jsonl.
#pragma once

#include <optional>
#include <string>

#include "evaluate/scorer.h"
#include "train/learning_record.h"

namespace heed {

struct TrainLine {
  std::int64_t step = 0, max_steps = 0;  // max_steps 0: not known
  double epoch = 0;
  double loss = 0;  // nats per token, unsmoothed, mean since the last line
  double gradient_norm = 0, learning_rate = 0, tokens_per_second = 0;
  double seconds = 0;  // since the process started
  double eta_seconds = -1;
  std::optional<Learning> learning;  // in metrics only, at steps that record it
};
std::string train_line(const TrainLine& line);
std::string train_metrics(const TrainLine& line);

struct ValidLine {
  std::int64_t step = 0;
  Evaluation evaluation;
  std::uint64_t bytes = 0;  // 0: no bits per byte
  double bleu = -1;         // below 0: not measured
  std::string verdict;      // "new best", "stalled 2/10 (best 1.8810 @ 750)", ...
};
std::string valid_line(const ValidLine& line);
std::string valid_metrics(const ValidLine& line);

// {"kind":"event","step":..,"event":"..","text":"..","core_type":".."}, without an empty core_type.
std::string event_metrics(std::int64_t step, const std::string& event, const std::string& text,
                          const std::string& core_type = "");

}  // namespace heed
