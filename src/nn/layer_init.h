// The initial weights of a layer (model.init). One value for a whole stack.
#pragma once

#include <cmath>

#include "config/model_config.h"
#include "nn/param.h"

namespace heed {

struct LayerInit {
  Initializer weight;
  Initializer branch_output;  // of the last matrix of a residual branch

  LayerInit() = default;
  // xavier_uniform: Glorot and Bengio 2010. gpt2: normal, and the outputs of the branches scaled by
  // 1 / sqrt(number of residual branches) (Radford et al. 2019, section 2.3).
  LayerInit(Init init, int residual_branches) {
    if (init != Init::gpt2) return;
    weight = {Initializer::normal, 0.02};
    branch_output = {Initializer::normal, 0.02 / std::sqrt(residual_branches)};
  }
};

}  // namespace heed
