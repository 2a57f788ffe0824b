// The numbers of a training as the tensors of its checkpoint.
#pragma once

#include <vector>

#include "step/stepper.h"
#include "store/safetensors.h"

namespace heed {

// model.safetensors: the weights that are used.
std::vector<TensorSlot> model_slots(Stepper& stepper);
// training.safetensors: the moments of the optimizer and, where others are used, the trained
// weights
// (`raw`).
std::vector<TensorSlot> training_slots(Stepper& stepper);
std::vector<TensorSlot> training_slots(const ParamTable& table, Optimizer<float>& optimizer,
                                       ParamVec<float>* raw);

}  // namespace heed
