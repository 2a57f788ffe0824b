// The floating-point operations of a batch: 2 for every multiply-add of a matrix product, including
// attention (causal counted in full) and output layer. A training step is 3 times the forward pass.
#pragma once

#include "nn/transformer.h"

namespace heed {

double training_flops(const Transformer& model, const Batch& batch);

}  // namespace heed
