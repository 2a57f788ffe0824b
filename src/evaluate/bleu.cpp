#include "evaluate/bleu.h"

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <regex>
#include <unordered_map>
#include <utility>

#include "base/format.h"
#include "evaluate/ngrams.h"
#include "text/utf8.h"

namespace heed {
namespace {

std::string_view strip_right(std::string_view text) {
  while (!text.empty()) {
    const std::size_t last = utf8_floor(text, text.size() - 1);
    if (!is_space(code_point_at(text, last).value)) break;
    text = text.substr(0, last);
  }
  return text;
}

// The words of a line as numbers; equal words of a sentence pair have equal numbers.
std::vector<int> word_numbers(const std::string& line,
                              std::unordered_map<std::string, int>& numbers) {
  std::vector<int> result;
  for (const std::string_view word : split_words(line))
    result.push_back(
        numbers.try_emplace(std::string(word), static_cast<int>(numbers.size())).first->second);
  return result;
}

std::string prepared(const std::string& line, const BleuOptions& options) {
  const std::string text = options.lowercase ? to_lower(line) : line;
  const std::string_view stripped = strip_right(text);
  return options.tokens == BleuTokens::t13a ? tokenize_13a(stripped) : std::string(stripped);
}

// BLEU = BP · exp(mean of log p_n),  BP = min(1, exp(1 - r/h)). The k-th order without a match gets
// p_n = 100 / (2^k · total_n). Without any match BLEU is 0.
void score(Bleu& bleu) {
  const double h = static_cast<double>(bleu.hypothesis_length);
  const double r = static_cast<double>(bleu.reference_length);
  bleu.brevity_penalty = h >= r ? 1.0 : h > 0 ? std::exp(1 - r / h) : 0.0;
  if (bleu.correct == std::array<std::int64_t, 4>{}) return;
  double smoothing = 1, log_sum = 0;
  for (int n = 0; n < 4; ++n) {
    if (bleu.total[n] == 0) return;  // no n-grams of this order: log 0
    double matches = static_cast<double>(bleu.correct[n]);
    if (bleu.correct[n] == 0) matches = 1 / (smoothing *= 2);
    bleu.precisions[n] = 100 * matches / static_cast<double>(bleu.total[n]);
    log_sum += std::log(bleu.precisions[n]);
  }
  bleu.score = bleu.brevity_penalty * std::exp(log_sum / 4);
}

}  // namespace

// sacreBLEU's replacements. Bytes are enough: those of a longer character are neither digits nor
// punctuation.
std::string tokenize_13a(std::string_view line) {
  static const std::pair<std::regex, const char*> kReplaced[] = {
      {std::regex("<skipped>"), ""},
      {std::regex("-\n"), ""},
      {std::regex("\n"), " "},
      {std::regex("&quot;"), "\""},
      {std::regex("&amp;"), "&"},
      {std::regex("&lt;"), "<"},
      {std::regex("&gt;"), ">"},
      {std::regex("([{-~[-` -&(-+:-@/])"), " $1 "},
      {std::regex("([^0-9])([.,])"), "$1 $2 "},
      {std::regex("([.,])([^0-9])"), " $1 $2"},
      {std::regex("([0-9])-"), "$1 - "},
  };
  std::string text = " " + std::string(line) + " ";
  for (const auto& [pattern, with] : kReplaced) text = std::regex_replace(text, pattern, with);
  std::vector<std::string> words;
  for (const std::string_view word : split_words(text)) words.emplace_back(word);
  return joined(words, " ");
}

Bleu corpus_bleu(std::span<const std::string> hypotheses, std::span<const std::string> references,
                 const BleuOptions& options) {
  require_references("BLEU", hypotheses.size(), references.size());
  Bleu bleu;
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    std::unordered_map<std::string, int> numbers;
    const auto hypothesis = word_numbers(prepared(hypotheses[i], options), numbers);
    const auto reference = word_numbers(prepared(references[i], options), numbers);
    bleu.hypothesis_length += static_cast<std::int64_t>(hypothesis.size());
    bleu.reference_length += static_cast<std::int64_t>(reference.size());
    for (int n = 1; n <= 4; ++n) {
      const NgramCounts counts = count_ngrams<4>(hypothesis, reference, n);
      bleu.correct[n - 1] += counts.matches;
      bleu.total[n - 1] += counts.hypothesis;
    }
  }
  score(bleu);
  bleu.signature = fmt::format(
      "nrefs:1|case:{}|eff:no|tok:{}|smooth:exp|version:heed-" HEED_VERSION,
      options.lowercase ? "lc" : "mixed", options.tokens == BleuTokens::t13a ? "13a" : "none");
  return bleu;
}

std::string Bleu::line() const {
  const double ratio = reference_length > 0 ? static_cast<double>(hypothesis_length) /
                                                  static_cast<double>(reference_length)
                                            : 0.0;
  return fmt::format(
      "BLEU = {:.2f} {:.1f}/{:.1f}/{:.1f}/{:.1f} (BP = {:.3f} ratio = {:.3f} hyp_len = {} "
      "ref_len = {})",
      score, precisions[0], precisions[1], precisions[2], precisions[3], brevity_penalty, ratio,
      hypothesis_length, reference_length);
}

}  // namespace heed
