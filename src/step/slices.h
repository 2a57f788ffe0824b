// The weights in slices, one for each rank, which sums their gradients and moves them.
//
// A slice is a run of whole blocks (step/weight_blocks.h), and of whole tensors where the optimizer
// moves matrices (muon). Slices are contiguous, and cut so that the largest share of the work is
// the least possible.
#pragma once

#include "config/optimizer_config.h"
#include "nn/param.h"
#include "step/exchange.h"

namespace heed {

struct Slices {
  Parts blocks, numbers;
};

Slices cut_slices(const ParamTable& table, const OptimizerConfig& config, int ranks);

}  // namespace heed
