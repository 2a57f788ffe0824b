// How good a model is: figures, each a function of sums over the lines or texts it was measured on.
//
// One table for heed evaluate, compare, bleu and train.select_by. To add a figure: a row in
// figures.cpp, what it counts there, and if a run may select by it, its name in
// config/train_config.cpp. Pure functions, safe from any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/std_names.h"
#include "text/tokenizer.h"

namespace heed {

// The places in Sums. From kTranslation on: what translation_counts() counts, where there are any.
using Sums = vector<double>;
enum SumOf : size_t { kNats, kTokens, kRight, kJudged, kBytes, kTranslation };
Sums& operator+=(Sums& sums, const Sums& more);

struct Figure {
  const char *key, *title, *note;  // of --json; for people; what stands behind a value
  int digits;                      // behind the point
  enum Needs { tokens, unmasked_tokens, masked_tokens, bytes, translations } needs;
  double (*of)(const Sums& sums);
  // If heed compare has it: the unit of a difference, and the sums that it is made of.
  const char* unit = nullptr;
  bool less_is_better = false;
  size_t begin = 0, end = 0;

  double quality(double value) const { return less_is_better ? -value : value; }
};
span<const Figure> figures();
// Error (store) if a run names one that there is not.
const Figure& figure(string_view key);

// The figure that chooses a run's best checkpoint (train.select_by); null: the loss does.
const Figure* selecting_figure(string_view select_by);

struct BleuOptions {
  string tokenize = "13a";  // how lines become words, as sacreBLEU's tokenizer of that name
                            // does it: that of mteval-v13a; or "none", at spaces
  bool lowercase = false;   // all figures of translations ignore case: sacreBLEU's -lc
  // Whose tokens token errors count, of text in this form; null, characters and bytes: words.
  const Tokenizer* units = nullptr;
  Normalize form = Normalize::none;
  bool counts_words() const { return units == nullptr || is_char_or_byte(units->type()); }
};

// What a translation adds to the sums. The figures made of these are
//
//   BLEU (Papineni et al. 2002), equal to sacreBLEU's (Post 2018): 4-grams, counts clipped by the
//     most that a reference has, brevity penalty by the closest reference length (of two the
//     shorter), exponential smoothing of zero counts, no effective order;
//   chrF2 (Popović 2015), equal to sacreBLEU's: character n-grams of order 1 to 6 without
//     whitespace, no word n-grams, beta 2 (recall weighs twice as much as precision), counts
//     against the reference of the best chrF2, the mean over the orders that both sides have;
//   character errors: the Levenshtein distance (1966) to the nearest reference, in characters
//     inserted, deleted and replaced, over that one's length, in percent;
//   token errors: the same in tokens (phonemes, words: the PER and WER of speech);
//   exact match: percent of those that equal a reference.
Sums translation_counts(const string& hypothesis, const vector<string>& references,
                        const BleuOptions& how = {});

// "BLEU = 41.02 71.8/48.6/34.5/24.6 (BP = 1.000 ratio = 1.003 hyp_len = 12103 ref_len = 12070)"
string bleu_line(const Sums& sums);

// A line with spaces where a tokenizer of BleuOptions splits it.
string bleu_words(string_view line, const string& tokenizer);

}  // namespace heed
