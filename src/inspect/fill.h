// What a model that fills in masks would put there.
#pragma once

#include "store/trained_model.h"

namespace heed {

// Instead of a mask: one token, or of a model with a decoder a span of any length.
struct Filling {
  TokenIds ids;
  double log_probability;  // nats; of a span, with its end
};

inline constexpr int kSpanBeam = 32;  // hypotheses of the search for a span

// For the mask in each of these rows of a framed source the n most probable fillings, best first;
// at most kSpanBeam spans. Spans have a token at least, and each is searched for after the best
// ones for the masks before it.
std::vector<std::vector<Filling>> fill(const ModelView& model, const TokenIds& source,
                                       const std::vector<int>& rows, int n);

}  // namespace heed
