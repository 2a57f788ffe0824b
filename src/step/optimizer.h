// One sweep over all parameters per step: clipping, moments, decay, update, and the gradient is
// left at zero for the next step. The rules are in optimizers.h.
//
//   g <- g * clip      clip = min(1, clip_norm / (norm + 1e-6))  (Pascanu, Mikolov and Bengio 2013)
//   e <- ema_decay e + (1 - ema_decay) w      the averaged values, if there are any
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/pool.h"
#include "nn/param.h"
#include "step/optimizers.h"

namespace heed {

// Factor on the gradient; clip_norm 0 is no clipping.
double clip_factor(double clip_norm, double gradient_norm);

// How many moments, each an array of the model's size, the optimizer keeps.
int moments_kept(const ParamTable& table, const OptimizerConfig& config);

// The numbers that one thread takes from its workspace, at most.
std::size_t optimizer_workspace(const ParamTable& table, const OptimizerConfig& config);

template <class T>
class Optimizer {
 public:
  // Table and products must outlive it. Moves blocks [begin, end) of the list.
  Optimizer(const ParamTable& table, const OptimizerConfig& config,
            const Products<T>& products = blas_products<T>(), std::size_t begin = 0,
            std::size_t end = std::string::npos);

  // Moves the values and leaves the gradients at zero. `averaged`, if given, follows the new
  // values.
  void step(Pool& pool, const Update& update, ParamVec<T>& values, ParamVec<T>& gradients,
            ParamVec<T>* averaged = nullptr);

  // What a checkpoint keeps of a tensor.
  struct Moment {
    std::string name;  // "adam.m." and the tensor's
    const ParamInfo* tensor;
    T* values;
  };
  std::vector<Moment> moments();
  // The same as whole arrays, which may have no numbers.
  std::span<ParamVec<T>> moment_arrays() { return moments_; }

 private:
  const ParamTable& table_;
  OptimizerConfig config_;
  const Products<T>& products_;
  std::vector<WeightBlock> blocks_;
  std::vector<const ParamInfo*> matrices_;  // of rules with a move_matrix, the largest first
  ParamVec<T> moments_[2];
  std::vector<Workspace> workspaces_;  // of each thread, for them
};

}  // namespace heed
