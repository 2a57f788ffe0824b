// Beam search: the most probable target of each source, many sources at a time.
//
//   score(y) = log p(y | source) / length(y)^length_penalty      length and log p include </s>
//
// (length normalisation: Wu et al. 2016, section 7.)
//
// Each step keeps, per source, the `beam_size` most probable continuations of its hypotheses. Those
// that end in </s> are finished and leave the beam. At the maximum length only </s> may follow (and
// the hypothesis has not ended by itself, unless </s> was the most probable token there too). The
// search for a source ends when none of its unfinished hypotheses can beat the n_best finished
// ones: log p can only fall, so log p / (maximum length)^length_penalty is an upper bound. Stopping
// there does not change the result. beam_size 1 is greedy decoding. The result for a source does
// not depend on the other sources or on the threads.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "base/std_names.h"
#include "decode/next_token.h"
#include "decode/predictor.h"
#include "text/tokenizer.h"

namespace heed {

inline constexpr double kMaxLengthPenalty = 10;  // lengths to this power stay finite

struct BeamOptions {
  int beam_size = 5;
  double length_penalty = 1.0;             // from 0 to kMaxLengthPenalty
  int n_best = 1;                          // at most beam_size
  int max_length = 0;                      // most tokens of a target, without </s>; needed
  WritingRules rules = {};                 // of a target; the most tokens come first
  vector<int> banned = {};                 // ids that are never produced
  vector<int> prefix = {Tokenizer::kBos};  // what the decoder reads before a target
  int end = Tokenizer::kEos;               // the id that ends a target
  function<void(double)> share_done = {};  // is told after each group of sources, if it is there
};

struct Hypothesis {
  vector<int> ids;  // without the prefix and the end
  double log_probability;
  double score;
  bool ended = true;  // by itself; false: options.max_length or the model's positions cut it
};

// `length` includes </s>.
inline double beam_score(double log_probability, size_t length, double length_penalty) {
  return log_probability / pow(double(length), length_penalty);
}

// The n_best hypotheses of each source (ids with </s>), best first, or fewer if the search finds
// fewer. An empty source has none. Learned positions, which include the prefix, may limit the
// length further than options.max_length.
vector<vector<Hypothesis>> beam_search(const Predictor& predictor, Pool& pool,
                                       span<const vector<int>> sources, const BeamOptions& options);

}  // namespace heed
