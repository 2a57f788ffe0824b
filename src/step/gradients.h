// The gradient of a step: every shard of its batch runs forward and backward, micro-batch after
// micro-batch, on one thread into its own array; then the arrays, their losses and the squares of
// the norm are summed in a fixed tree (step/tree_sum.h). The bytes that come out depend on the
// shards, never on the threads.
//
// Of several ranks (step/exchange.h) each runs its share of the shards, and has the sum of its
// slice of the weights.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "nn/transformer.h"
#include "step/crew.h"
#include "step/slices.h"
#include "step/weight_blocks.h"

namespace heed {

// What a step learns from: packed rows and their labels, dealt to shards.
struct StepBatch {
  std::vector<std::vector<Batch>> shards;  // [shard][micro-batch]; only the first `used` count
  std::vector<int> used;                   // micro-batches of each shard
  std::int64_t tokens = 0;                 // source + target
  std::int64_t labels = 0;                 // scored tokens
  int requests = 0;  // bits: what this process asks for, with this step, of all that share it
};

// How many arrays of the model's size a member of the crew has of so many shards, at most: its
// share of them, and others' partial sums.
int shards_held(int shards, const Crew& crew);

class Gradients {
 public:
  // No slices: one process.
  Gradients(const Transformer& model, int shards, const Crew& crew, const Slices& slices = {});

  struct Result {
    LossSums loss;
    int requests = 0;  // of all
    Result& operator+=(const Result& other);
  };

  // Loss of the step, its gradient left in the shards. `meanwhile`, if given, runs beside the
  // shards on whichever thread is free first.
  Result run(const ParamVec<float>& values, const StepBatch& batch, double smoothing,
             const std::function<void()>& meanwhile = {});

  // Sums the shards of all ranks into sum(), this rank's slice of it, and clears the rest. Returns
  // the L2 norm of the whole sum.
  double reduce();
  // The bytes that all ranks together send in a step, with an update: every partial sum to the
  // slice's owner, the slice's weights to all; and, little, the losses and squares.
  std::uint64_t step_bytes() const;
  ParamVec<float>& sum() { return shards_.front(); }

 private:
  struct Worker {
    Workspace workspace;
    TransformerSaved<float> saved;
  };

  int rank_of(int shard) const;
  void add(int to, int from, std::size_t begin, std::size_t end);
  void exchange_partial_sums();

  const Transformer* model_;
  Crew crew_;
  Slices slices_;
  Products<float> products_;
  Parts parts_;                          // of the shards
  int first_;                            // shard of this rank
  std::vector<ParamVec<float>> shards_;  // of this rank
  std::vector<Worker> workers_;
  std::vector<Result> results_;                // of each shard
  std::vector<std::pair<int, int>> pairs_[2];  // of the tree: within this rank's share; the rest
  std::vector<int> roots_;                     // shards that end up with a rank's partial sums
  std::vector<std::vector<float>> received_;   // [shard], of others: this slice of their sums
  std::vector<WeightBlock> blocks_;
  std::vector<double> squares_;  // of each block, for the norm
};

}  // namespace heed
