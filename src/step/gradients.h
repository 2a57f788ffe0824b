// The gradient of a step: every shard of its batch runs forward and backward, micro-batch after
// micro-batch, on one thread into its own array; then the arrays, their losses and the squares of
// the norm are summed in a fixed tree (step/tree_sum.h). The bytes that come out depend on the
// shards, never on the threads.
//
// This is one process. Several would each run an aligned group of shards and exchange the groups'
// sums inside reduce(), before the norm, and the losses and label counts inside run().
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/pool.h"
#include "nn/transformer.h"
#include "step/weight_blocks.h"

namespace heed {

// What a step learns from: packed rows and their labels, dealt to shards.
struct StepBatch {
  std::vector<std::vector<Batch>> shards;  // [shard][micro-batch]; only the first `used` count
  std::vector<int> used;                   // micro-batches of each shard
  std::int64_t tokens = 0;                 // source + target
  std::int64_t labels = 0;                 // scored tokens
};

class Gradients {
 public:
  Gradients(const Transformer& model, int shards, Pool& pool);

  // Loss of the step, its gradient left in the shards. `meanwhile`, if given, runs beside the
  // shards on whichever thread is free first.
  LossSums run(const ParamVec<float>& values, const StepBatch& batch, double smoothing,
               const std::function<void()>& meanwhile = {});

  // Sums the shards into sum() and clears the others. Returns the L2 norm of the sum.
  double reduce();
  ParamVec<float>& sum() { return shards_.front(); }

 private:
  struct Worker {
    Workspace workspace;
    TransformerSaved<float> saved;
  };

  const Transformer* model_;
  Pool* pool_;
  Products<float> products_;
  std::vector<ParamVec<float>> shards_;
  std::vector<Worker> workers_;
  std::vector<LossSums> losses_;  // of each shard
  std::vector<WeightBlock> blocks_;
  std::vector<double> squares_;  // of each block, for the norm
};

}  // namespace heed
