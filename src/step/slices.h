// The weights in slices, one for each rank, which sums their gradients and moves them.
//
// A slice is a run of whole blocks (nn/param.h), and of whole tensors where the optimizer
// moves matrices (muon). Slices are contiguous, and cut so that the largest share of the work is
// the least possible.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "config/train_config.h"
#include "nn/param.h"
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
T tree_sum(std::vector<T>& x) {
  for_tree_pairs(static_cast<int>(x.size()), [&](int to, int from) { x[to] += x[from]; });
  return x.front();
}

struct Slices {
  Parts blocks, numbers;
};

Slices cut_slices(const ParamTable& table, const OptimizerConfig& config, int ranks);

// How many arrays of the model's size a rank has of so many shards, at most: its share of them, and
// the others' partial sums.
int shards_held(int shards, const Crew& crew);

// The gradients of a step's shards, and their sum in a fixed tree. Each rank has
// some of the shards; it adds the subtrees that it has all of, sends these sums to the owners of
// the slices, and adds what it receives for its own.
class SlicedSum {
 public:
  // No slices: one process. The table must outlive it.
  SlicedSum(const ParamTable& table, int shards, const Crew& crew, const Slices& slices);

  // Those of this rank: how many, the first, and the array of one.
  int shards() const { return static_cast<int>(parts_[rank_ + 1] - parts_[rank_]); }
  int first() const { return static_cast<int>(parts_[rank_]); }
  ParamVec<float>& of_shard(int shard) { return shards_[shard]; }
  // Sums the shards of all ranks into sum(), this rank's slice of it, and clears the rest. Returns
  // the L2 norm of the whole sum.
  double reduce();
  ParamVec<float>& sum() { return shards_.front(); }
  // The bytes that all ranks together send for that, and for the weights of an update.
  std::uint64_t sent_bytes() const;

 private:
  int rank_of(int shard) const;
  void add(int to, int from, std::size_t begin, std::size_t end);
  void exchange_partial_sums();

  Crew crew_;
  Slices slices_;
  int rank_;
  Parts parts_;  // of the shards
  // This rank's; of others' partial sums, this rank's slice (only that takes memory); the rest
  // empty.
  std::vector<ParamVec<float>> shards_;
  std::vector<std::pair<int, int>> pairs_[2];  // of the tree: within this rank's share; the rest
  std::vector<int> roots_;                     // shards that end up with a rank's partial sums
  std::vector<WeightBlock> blocks_;
  std::vector<double> squares_;  // of each block, for the norm
};

}  // namespace heed
