// The numbers of a training as the tensors of its checkpoint.
#pragma once

#include <vector>

#include "step/stepper.h"
#include "store/safetensors.h"

namespace heed {

// training.safetensors: the moments of the optimizer and, beside averaged weights, the trained ones
// (`raw`).
std::vector<TensorSlot> training_slots(const ParamTable& table, Optimizer<float>& optimizer,
                                       ParamVec<float>* raw);

}  // namespace heed
