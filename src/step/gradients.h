// The gradient of a step: every shard of its batch runs forward and backward, micro-batch after
// micro-batch, on one thread into its own array; then the arrays, their losses and the squares of
// the norm are summed in a fixed tree. The bytes that come out depend on the shards, never on the
// threads.
//
// Of several ranks (step/exchange.h) each runs its share of the shards, adds the subtrees that it
// has all of, sends these sums to the owners of the slices, and adds what it receives for its own.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "base/std_names.h"
#include "config/train_config.h"
#include "nn/transformer.h"
#include "step/crew.h"

namespace heed {

// The order in which the parts of a step are summed: a fixed binary tree.
//
//   for d = 1, 2, 4, ...:  x[s] += x[s + d]   where s mod 2d = 0 and s + d < n
//
// Any aligned group of 2^k parts is a subtree, so it can be summed elsewhere, on another machine,
// with the same bits. (A running sum would have to visit all parts in one place.)

// Calls add(s, s + d) for every pair, in that order.
template <class Add>
void for_tree_pairs(int n, Add&& add) {
  for (int d = 1; d < n; d *= 2)
    for (int s = 0; s + d < n; s += 2 * d) add(s, s + d);
}

// The sum of x, which must not be empty and is overwritten.
template <class T>
T tree_sum(vector<T>& x) {
  for_tree_pairs(x.size(), [&](int to, int from) { x[to] += x[from]; });
  return x.front();
}

// The weights in slices, one for each rank, which sums their gradients and moves them.
//
// A slice is a run of whole blocks (nn/param.h), and of whole tensors where the optimizer moves
// matrices (muon). Slices are contiguous: each has the pieces whose middle lies in its share of the
// work, all shares being equal.
struct Slices {
  Parts blocks, numbers;
};

Slices cut_slices(const ParamTable& table, const OptimizerConfig& config, int ranks);

// What a step learns from: packed rows and their labels, dealt to shards.
struct StepBatch {
  vector<vector<Batch>> shards;  // [shard][micro-batch]; only the first `used` count
  vector<int> used;              // micro-batches of each shard
  int64_t tokens = 0;            // source + target
  int64_t labels = 0;            // scored tokens
  int requests = 0;  // bits: what this process asks for, with this step, of all that share it
};

template <class T = float>
class Gradients {
 public:
  // No slices: one process. Model, crew and products must outlive it.
  Gradients(const Transformer& model, int shards, const Crew& crew, const Slices& slices = {},
            Products<T>& products = blas_products<T>());

  struct Result {
    LossSums loss;
    int requests = 0;  // of all
    Result& operator+=(const Result& other) {
      loss += other.loss;
      requests |= other.requests;
      return *this;
    }
  };

  // Loss of the step, its gradient left in the shards. `meanwhile`, if given, runs beside the
  // shards on whichever thread is free first. `rows`, if given, gets the loss of each row.
  Result run(const ParamVec<T>& values, const StepBatch& batch, double smoothing,
             const function<void()>& meanwhile = {}, double* rows = nullptr);

  // Sums the shards of all ranks into sum(), this rank's slice of it, and clears the rest. Returns
  // the L2 norm of the whole sum.
  double reduce();
  ParamVec<T>& sum() { return shards_.front(); }
  // The bytes that all processes together send in a step, with an update: little but the sums and
  // the weights.
  uint64_t step_bytes() const;

 private:
  struct Worker {
    Workspace workspace;
    TransformerSaved<T> saved;
  };

  int rank_of(int shard) const { return ranges::upper_bound(parts_, shard) - parts_.begin() - 1; }
  void add(int to, int from, size_t begin, size_t end);
  void exchange_partial_sums();

  const Transformer* model_;
  Crew crew_;
  Products<T>& products_;
  Slices slices_;
  int rank_;
  Parts parts_;  // of the shards
  // This rank's; of others' partial sums, this rank's slice (only that takes memory); the rest
  // empty.
  vector<ParamVec<T>> shards_;
  vector<pair<int, int>> pairs_[2];  // of the tree: within this rank's share; the rest
  vector<int> roots_;                // shards that end up with a rank's partial sums
  vector<WeightBlock> blocks_;
  vector<double> squares_;  // of each block, for the norm
  vector<Worker> workers_;
  vector<Result> results_;  // of each shard
};

}  // namespace heed
