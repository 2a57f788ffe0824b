#include "evaluate/translation_metric.h"

#include <fmt/core.h>

#include "evaluate/bleu.h"
#include "evaluate/chrf.h"
#include "text/utf8.h"

namespace heed {
namespace {

double bleu(std::span<const std::string> hypotheses, std::span<const std::string> references) {
  return corpus_bleu(hypotheses, references, {.tokenize = "none"}).score;
}

// BLEU counts up to four words in a row.
std::string too_few_words(std::span<const std::string> references) {
  double words = 0;
  for (const std::string& line : references) words += static_cast<double>(split_words(line).size());
  words /= static_cast<double>(references.size());
  if (words >= 4) return "";
  return fmt::format(
      "train.select_by bleu counts words between spaces, up to four in a row; the held-out targets "
      "have {:.1f} on average, which it cannot judge: --set train.select_by=chrf",
      words);
}

double chrf(std::span<const std::string> hypotheses, std::span<const std::string> references) {
  return corpus_chrf(hypotheses, references).score;
}

const TranslationMetric kTable[] = {
    {"bleu", "BLEU", "greedy, tokenize none", bleu, too_few_words},
    {"chrf", "chrF2", "greedy", chrf, [](std::span<const std::string>) { return std::string(); }},
};

}  // namespace

const TranslationMetric* translation_metric(const std::string& name) {
  for (const TranslationMetric& metric : kTable)
    if (metric.name == name) return &metric;
  return nullptr;
}

}  // namespace heed
