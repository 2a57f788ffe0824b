#include "store/training_tensors.h"

namespace heed {

std::vector<TensorSlot> training_slots(const ParamTable& table, Optimizer<float>& optimizer,
                                       ParamVec<float>* raw) {
  std::vector<TensorSlot> all;
  for (const auto& [prefix, values, used_by] : optimizer.moments()) {
    std::vector<TensorSlot> slots = tensor_slots(table, *values, prefix);
    for (std::size_t i = 0; i < slots.size(); ++i)
      if (used_by(table.infos()[i])) all.push_back(std::move(slots[i]));
  }
  if (raw != nullptr)
    for (TensorSlot& slot : tensor_slots(table, *raw, "raw.")) all.push_back(std::move(slot));
  return all;
}

}  // namespace heed
