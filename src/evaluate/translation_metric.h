// The metrics of translations that can choose a run's best checkpoint (train.select_by). Larger is
// better. To add one: a row in translation_metric.cpp.
#pragma once

#include <span>
#include <string>

namespace heed {

struct TranslationMetric {
  const char* name;   // value of train.select_by, and key in metrics.jsonl
  const char* title;  // "BLEU"
  const char* how;    // it is measured, for the log
  double (*score)(std::span<const std::string> hypotheses, std::span<const std::string> references);
  // Why it cannot judge such references, or "".
  std::string (*unfit)(std::span<const std::string> references);
};

// Null if there is none of that name: the loss decides.
const TranslationMetric* translation_metric(const std::string& name);

}  // namespace heed
