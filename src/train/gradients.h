// The gradient of a step: every shard runs forward and backward, micro-batch after micro-batch, on
// one thread into its own array; then the arrays, their losses and the squares of the norm are
// summed in a fixed tree (train/tree_sum.h). The bytes that come out depend on the shards, never on
// the threads.
//
// This is one process. Several would each run an aligned group of shards and exchange the groups'
// sums inside reduce(), before the norm, and the losses and label counts inside run().
#pragma once

#include <functional>
#include <vector>

#include "base/pool.h"
#include "data/batcher.h"
#include "nn/transformer.h"
#include "train/weight_blocks.h"

namespace heed {

class Gradients {
 public:
  Gradients(const Transformer& model, int shards, Pool& pool);

  // Loss of the step, its gradient left in the shards. `meanwhile` runs beside the shards on
  // whichever thread is free first (the next batch is filled there); may be empty.
  LossSums run(const ParamVec<float>& values, const StepBatch& batch, double smoothing,
               const std::function<void()>& meanwhile);

  // Sums the shards into sum() and clears the others. Returns the L2 norm of the sum.
  double reduce();
  ParamVec<float>& sum() { return shards_.front(); }

  // Where the time of each worker goes. Empty, which is how it begins: not measured.
  std::vector<Profile>& profiles() { return profiles_; }

 private:
  struct Worker {
    Workspace workspace;
    TransformerSaved<float> saved;
  };
  Profile* profile_of(int worker) { return profiles_.empty() ? nullptr : &profiles_[worker]; }

  const Transformer* model_;
  Pool* pool_;
  std::vector<ParamVec<float>> shards_;
  std::vector<Worker> workers_;
  std::vector<LossSums> losses_;  // of each shard
  std::vector<WeightBlock> blocks_;
  std::vector<double> squares_;  // of each block, for the norm
  std::vector<Profile> profiles_;
};

}  // namespace heed
