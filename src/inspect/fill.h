// What a model that fills in masks would put there.
#pragma once

#include "decode/best_tokens.h"
#include "store/trained_model.h"

namespace heed {

// For each of these rows of a source the n most probable ordinary tokens, best first.
std::vector<std::vector<ScoredToken>> fill(const TrainedModel& model, const TokenIds& source,
                                           const std::vector<int>& rows, int n);

}  // namespace heed
