#include "evaluate/chrf.h"

#include <fmt/core.h>

#include <array>
#include <vector>

#include "evaluate/ngrams.h"
#include "text/utf8.h"

namespace heed {
namespace {

constexpr int kOrder = 6;

std::vector<char32_t> characters(const std::string& line, bool lowercase) {
  const std::string text = lowercase ? to_lower(line) : line;
  std::vector<char32_t> result;
  each_code_point(text, [&](CodePoint c, std::size_t) {
    if (!is_space(c.value)) result.push_back(c.value);
  });
  return result;
}

// (1 + b²) P R / (b² P + R), P and R the means over the orders that both sides have.
double f_score(const std::array<NgramCounts, kOrder>& counts, int beta) {
  double precision = 0, recall = 0;
  int orders = 0;
  for (const NgramCounts& c : counts) {
    if (c.hypothesis == 0 || c.reference == 0) continue;
    precision += static_cast<double>(c.matches) / static_cast<double>(c.hypothesis);
    recall += static_cast<double>(c.matches) / static_cast<double>(c.reference);
    ++orders;
  }
  if (orders == 0 || precision + recall == 0) return 0;
  precision /= orders;
  recall /= orders;
  const double factor = static_cast<double>(beta) * beta;
  return 100 * (1 + factor) * precision * recall / (factor * precision + recall);
}

}  // namespace

Chrf corpus_chrf(std::span<const std::string> hypotheses, std::span<const std::string> references,
                 bool lowercase, int beta) {
  require_references("chrF", hypotheses.size(), references.size());
  std::array<NgramCounts, kOrder> sums;
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    const auto hypothesis = characters(hypotheses[i], lowercase);
    const auto reference = characters(references[i], lowercase);
    for (int n = 1; n <= kOrder; ++n) {
      const NgramCounts c = count_ngrams<kOrder>(hypothesis, reference, n);
      NgramCounts& sum = sums[n - 1];
      // As sacreBLEU since 2.0: an order that the reference lacks does not count.
      sum.hypothesis += c.reference > 0 ? c.hypothesis : 0;
      sum.reference += c.reference;
      sum.matches += c.matches;
    }
  }
  Chrf chrf;
  chrf.score = f_score(sums, beta);
  chrf.signature =
      fmt::format("nrefs:1|case:{}|eff:yes|nc:6|nw:0|space:no|version:heed-" HEED_VERSION,
                  lowercase ? "lc" : "mixed");
  return chrf;
}

}  // namespace heed
