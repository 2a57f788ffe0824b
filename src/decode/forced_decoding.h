// How probable given targets are, one token after the other through the cache of an
// IncrementalDecoder: like everything that is decoded, to the same bits alone and in any batch, in
// memory that grows with the length.
#pragma once

#include <span>
#include <vector>

#include "nn/transformer.h"

namespace heed {

// log p(targets[i] </s> | sources[i]). Sources with their </s>, targets without <s> and </s>.
std::vector<double> target_log_probs(const Transformer& model, const ParamVec<float>& values,
                                     Pool& pool, std::span<const std::vector<int>> sources,
                                     std::span<const std::vector<int>> targets);

}  // namespace heed
