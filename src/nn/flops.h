// How much arithmetic a batch is: multiply-adds of all matrix products counted as 2, attention and
// output layer included, causal attention counted dense. A training step is 3 times the forward.
#pragma once

#include "nn/transformer.h"

namespace heed {

double forward_flops(const Transformer& model, const Batch& batch);
inline double training_flops(const Transformer& model, const Batch& batch) {
  return 3.0 * forward_flops(model, batch);
}

}  // namespace heed
