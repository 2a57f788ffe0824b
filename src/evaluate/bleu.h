// Corpus BLEU with one reference (Papineni et al. 2002), equal to sacreBLEU's (Post 2018): 4-grams,
// clipped counts summed over the corpus, brevity penalty, exponential smoothing of zero counts, no
// effective order. Pure functions, safe from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

// How lines become words, as sacreBLEU's tokenizers of these names do it.
//   13a   that of mteval-v13a
//   none  words are separated by spaces
//   char  every character is a word
//   zh    every Chinese character is a word, the rest about as 13a
std::vector<std::string> bleu_tokenizers();

struct BleuOptions {
  std::string tokenize = "13a";
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

// A line as a tokenizer splits it, joined by single spaces.
std::string bleu_words(std::string_view line, const std::string& tokenizer);

}  // namespace heed
