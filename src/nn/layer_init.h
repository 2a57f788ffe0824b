// The initial weights of a layer (model.init, model.zero_init). One value for a whole stack.
#pragma once

#include <cmath>

#include "config/model_config.h"
#include "nn/param.h"

namespace heed {

struct LayerInit {
  Initializer weight;
  Initializer branch_output;  // of the last matrix of a residual branch

  LayerInit() = default;
  // xavier_uniform: Glorot and Bengio 2010. gpt2: normal, with branch outputs scaled by
  // 1 / sqrt(number of residual branches) (Radford et al. 2019, section 2.3). zero_init: these are
  // 0, so that every branch adds 0 at first (Zhang, Dauphin and Ma 2019, "Fixup").
  LayerInit(const ModelConfig& config, int residual_branches) {
    if (config.init == Init::gpt2) {
      weight = {Initializer::normal, 0.02};
      branch_output = {Initializer::normal, 0.02 / std::sqrt(residual_branches)};
    }
    if (config.zero_init) branch_output = {Initializer::zeros};
  }
};

}  // namespace heed
