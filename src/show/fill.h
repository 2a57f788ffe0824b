// What a model writes: texts, if it has a decoder, and what belongs in the place of masks.
#pragma once

#include "base/std_names.h"
#include "data/objective.h"
#include "decode/beam.h"

namespace heed {

// At most `max_tokens` tokens that continue `prompt` (a source without special tokens, or the
// beginning of a decoder's text), without </s>. Temperature 0: always the most probable token;
// otherwise drawn with a fixed seed. The first is none of `not_next`.
TokenIds generate(const Predictor& predictor, const Objective& objective, const Tokenizer& target,
                  TokenIds prompt, int max_tokens, double temperature = 0,
                  const TokenIds& not_next = {});

inline constexpr int kSpanBeam = 32;  // hypotheses of the search for a span

// For the mask in each of these rows of a framed source, the n most probable fillings, best first:
// a token or, if the model has a decoder, a span, whose probability includes its end. At most
// kSpanBeam spans. A span has at least one token, and is searched for given the best ones for the
// masks before it.
vector<vector<Hypothesis>> fill(const Predictor& predictor, const Objective& objective,
                                const Tokenizer& target, const TokenIds& source,
                                const vector<int>& rows, int n);

}  // namespace heed
