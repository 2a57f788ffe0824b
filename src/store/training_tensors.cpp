#include "store/training_tensors.h"

namespace heed {

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
