// Corpus BLEU with one reference (Papineni et al. 2002), equal to sacreBLEU's (Post 2018): 4-grams,
// clipped counts summed over the corpus, brevity penalty, exponential smoothing of zero counts, no
// effective order. Pure functions, safe from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace heed {

// 13a: the tokenisation of mteval-v13a. none: words are separated by spaces.
enum class BleuTokens { t13a, none };

struct BleuOptions {
  BleuTokens tokens = BleuTokens::t13a;
  bool lowercase = false;  // case-insensitive, sacreBLEU's -lc
};

struct Bleu {
  double score = 0;                       // 0 to 100
  std::array<double, 4> precisions{};     // percent, smoothed
  std::array<std::int64_t, 4> correct{};  // clipped matches
  std::array<std::int64_t, 4> total{};    // n-grams of the hypotheses
  double brevity_penalty = 0;
  std::int64_t hypothesis_length = 0;  // tokens
  std::int64_t reference_length = 0;
  std::string signature;  // "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:heed-0.1.0"
  // "BLEU = 41.02 71.8/48.6/34.5/24.6 (BP = 1.000 ratio = 1.003 hyp_len = 12103 ref_len = 12070)"
  std::string line() const;
};

// hypotheses.size() == references.size(), at least one, else Error (data).
Bleu corpus_bleu(std::span<const std::string> hypotheses, std::span<const std::string> references,
                 const BleuOptions& options = {});

// A line as 13a splits it, joined by single spaces.
std::string tokenize_13a(std::string_view line);

}  // namespace heed
