#include "store/training_tensors.h"

namespace heed {

std::vector<TensorSlot> model_slots(Stepper& stepper) {
  return tensor_slots(stepper.table(), stepper.weights().used);
}

std::vector<TensorSlot> training_slots(Stepper& stepper) {
  const Weights w = stepper.weights();
  return training_slots(stepper.table(), stepper.optimizer(), w.differ() ? &w.trained : nullptr);
}

std::vector<TensorSlot> training_slots(const ParamTable& table, Optimizer<float>& optimizer,
                                       ParamVec<float>* raw) {
  std::vector<TensorSlot> all;
  for (const auto& [name, tensor, values] : optimizer.moments())
    all.push_back(tensor_slot(name, *tensor, values));
  if (raw != nullptr)
    for (TensorSlot& slot : tensor_slots(table, *raw, "raw.")) all.push_back(std::move(slot));
  return all;
}

}  // namespace heed
