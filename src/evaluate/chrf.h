// Corpus chrF2 with one reference (Popović 2015), equal to sacreBLEU's: character n-grams of order
// 1 to 6 without whitespace, no word n-grams, beta 2 (recall weighs twice as much as precision),
// counts summed over the corpus, the mean over the orders that both sides have. Pure functions,
// safe from any thread.
#pragma once

#include <span>
#include <string>

namespace heed {

struct Chrf {
  double score = 0;       // 0 to 100
  std::string signature;  // "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:heed-0.1.0"
};

// hypotheses.size() == references.size(), at least one, else Error (data).
Chrf corpus_chrf(std::span<const std::string> hypotheses, std::span<const std::string> references,
                 bool lowercase = false, int beta = 2);

}  // namespace heed
