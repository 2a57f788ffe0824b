// Beam search: the most probable target of each source, many sources at a time.
//
//   score(y) = log p(y | source) / length(y)^length_penalty      length and log p count the </s>
//
// (length normalisation: Wu et al. 2016, section 7.)
//
// Each step keeps, per source, the `beam_size` most probable continuations of its hypotheses; those
// that end in </s> are finished and leave, the next step again keeps beam_size continuations of the
// others. At the maximal length only </s> may follow. The search for a source ends when none of its
// unfinished hypotheses can come to a better score than the n_best finished ones: log p can only
// fall, so log p / (maximal length)^length_penalty bounds what is to come. Ending there changes
// nothing in the result. With beam_size 1 it is greedy decoding. The result for a source does not
// depend on the others or on the threads.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "nn/transformer.h"
#include "text/tokenizer.h"

namespace heed {

inline constexpr double kMaxLengthPenalty = 10;  // lengths to this power stay finite

struct BeamOptions {
  int beam_size = 5;
  double length_penalty = 1.0;                  // from 0 to kMaxLengthPenalty
  int n_best = 1;                               // at most beam_size
  int max_length = 0;                           // tokens without </s>; 0: see longest_target()
  std::vector<int> banned;                      // ids that never come
  std::vector<int> prefix = {Tokenizer::kBos};  // what the decoder reads before a target
  int end = Tokenizer::kEos;                    // the id that ends a target
};

struct Hypothesis {
  std::vector<int> ids;  // without the prefix and the end
  double log_probability;
  double score;
};

// `length` counts the </s>.
inline double beam_score(double log_probability, std::size_t length, double length_penalty) {
  return log_probability / std::pow(static_cast<double>(length), length_penalty);
}

// How many tokens a target may have: options.max_length, or else twice the source's and 20; never
// more than the model has learned positions for, the prefix among them.
int longest_target(const ModelConfig& config, const BeamOptions& options, int source_tokens);

// For each source (ids with their </s>) its n_best hypotheses, best first; fewer only if there are
// not so many. A source without tokens gives none.
std::vector<std::vector<Hypothesis>> beam_search(const Transformer& model,
                                                 const ParamVec<float>& values, Pool& pool,
                                                 std::span<const std::vector<int>> sources,
                                                 const BeamOptions& options);

}  // namespace heed
