// How good translations are.
//
// `references` are one list with a line for each hypothesis, or several such lists, one after the
// other. Error (data) if they do not fit, or there is no hypothesis. Pure functions, safe from any
// thread.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

struct BleuOptions {
  std::string tokenize = "13a";  // how lines become words, as sacreBLEU's tokenizer of that name
                                 // does it: that of mteval-v13a; or "none", at spaces
  bool lowercase = false;        // case-insensitive, sacreBLEU's -lc
};

// N-grams of a hypothesis, of its reference, and the matches: an n-gram matches at most as often as
// it occurs on both sides (clipped counts).
struct NgramCounts {
  std::int64_t hypothesis = 0, reference = 0, matches = 0;
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
  void rate();            // from the counts: score, precisions, brevity penalty
  // "BLEU = 41.02 71.8/48.6/34.5/24.6 (BP = 1.000 ratio = 1.003 hyp_len = 12103 ref_len = 12070)"
  std::string line() const;
};

// Corpus BLEU (Papineni et al. 2002), equal to sacreBLEU's (Post 2018): 4-grams, counts clipped by
// the most that a reference has and summed over the corpus, brevity penalty by the closest
// reference length (of two the shorter), exponential smoothing of zero counts, no effective order.
Bleu corpus_bleu(std::span<const std::string> hypotheses, std::span<const std::string> references,
                 const BleuOptions& options = {});

// A line as a tokenizer splits it, joined by single spaces.
std::string bleu_words(std::string_view line, const std::string& tokenizer);

// Corpus chrF2 (Popović 2015), equal to sacreBLEU's: character n-grams of order 1 to 6 without
// whitespace, no word n-grams, beta 2 (recall weighs twice as much as precision), counts against
// the reference of the best chrF2 summed over the corpus, the mean over the orders that both sides
// have.
struct Chrf {
  double score = 0;                        // 0 to 100
  std::array<NgramCounts, 6> counts = {};  // of each order
  std::string signature;    // "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:heed-0.1.0"
  void rate(int beta = 2);  // from the counts: score
};

Chrf corpus_chrf(std::span<const std::string> hypotheses, std::span<const std::string> references,
                 bool lowercase = false, int beta = 2);

// Percent: the Levenshtein distance (1966) of each hypothesis to the nearest reference, in
// characters inserted, deleted and replaced, over that one's length; both summed over the corpus.
double character_error_rate(std::span<const std::string> hypotheses,
                            std::span<const std::string> references, bool lowercase = false);

// Percent of the hypotheses that equal a reference.
double exact_match(std::span<const std::string> hypotheses, std::span<const std::string> references,
                   bool lowercase = false);

// The metrics that can choose a run's best checkpoint (train.select_by) in place of the loss.
// Larger is better. To add one: a row in bleu.cpp, and a name in config/train_config.h.
struct Metric {
  const char* name;   // value of train.select_by, and key in metrics.jsonl
  const char* title;  // "BLEU"
  const char* how;    // it is measured, for the log
  int digits;         // behind the point, for the log
  // Of translations; null: of any model, every validation measures it.
  double (*score)(std::span<const std::string> hypotheses, std::span<const std::string> references);
  // Why it cannot judge such references; null: it judges all.
  std::string (*unfit)(std::span<const std::string> references) = nullptr;
};

// Null if there is none of that name: the loss decides.
const Metric* find_metric(const std::string& name);

}  // namespace heed
