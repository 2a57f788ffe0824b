#include "nn/layer_init.h"

#include <cmath>

namespace heed {

LayerInit::LayerInit(Init init, int residual_branches) {
  if (init != Init::gpt2) return;
  weight = {Initializer::normal, 0.02};
  branch_output = {Initializer::normal, 0.02 / std::sqrt(residual_branches)};
}

}  // namespace heed
