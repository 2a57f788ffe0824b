// The gradient of a step: every shard of its batch runs forward and backward, micro-batch after
// micro-batch, on one thread into its own array; then the arrays, their losses and the squares of
// the norm are summed in a fixed tree (step/slices.h). The bytes that come out depend on the
// shards, never on the threads.
//
// Of several ranks (step/exchange.h) each runs its share of the shards, and has the sum of its
// slice of the weights.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "nn/transformer.h"
#include "step/crew.h"
#include "step/slices.h"

namespace heed {

// What a step learns from: packed rows and their labels, dealt to shards.
struct StepBatch {
  std::vector<std::vector<Batch>> shards;  // [shard][micro-batch]; only the first `used` count
  std::vector<int> used;                   // micro-batches of each shard
  std::int64_t tokens = 0;                 // source + target
  std::int64_t labels = 0;                 // scored tokens
  int requests = 0;  // bits: what this process asks for, with this step, of all that share it
};

class Gradients {
 public:
  // No slices: one process. Model, crew and products must outlive it.
  Gradients(const Transformer& model, int shards, const Crew& crew, const Slices& slices = {},
            Products<float>& products = blas_products<float>());

  struct Result {
    LossSums loss;
    int requests = 0;  // of all
    Result& operator+=(const Result& other);
  };

  // Loss of the step, its gradient left in the shards. `meanwhile`, if given, runs beside the
  // shards on whichever thread is free first.
  Result run(const ParamVec<float>& values, const StepBatch& batch, double smoothing,
             const std::function<void()>& meanwhile = {});

  // Sums the shards into sum() and returns the L2 norm (SlicedSum::reduce()).
  double reduce() { return sums_.reduce(); }
  ParamVec<float>& sum() { return sums_.sum(); }
  // The bytes that all processes together send in a step, with an update: little but the sums and
  // the weights.
  std::uint64_t step_bytes() const {
    return sums_.sent_bytes() +
           static_cast<std::uint64_t>(crew_.ranks() - 1) * results_.size() * sizeof(Result);
  }

 private:
  struct Worker {
    Workspace workspace;
    TransformerSaved<float> saved;
  };

  const Transformer* model_;
  Crew crew_;
  Products<float>& products_;
  SlicedSum sums_;
  std::vector<Worker> workers_;
  std::vector<Result> results_;  // of each shard
};

}  // namespace heed
