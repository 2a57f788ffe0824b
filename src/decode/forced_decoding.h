// The probability of given targets, token by token through an IncrementalDecoder. So the result has
// the same bits alone and in any batch, as in all decoding, and memory grows only with the length.
#pragma once

#include <span>
#include <vector>

#include "nn/transformer.h"

namespace heed {

// log p(targets[i] </s> | sources[i]). Sources have </s>; targets have no <s> or </s>.
std::vector<double> target_log_probs(const Transformer& model, const ParamVec<float>& values,
                                     Pool& pool, std::span<const std::vector<int>> sources,
                                     std::span<const std::vector<int>> targets);

}  // namespace heed
