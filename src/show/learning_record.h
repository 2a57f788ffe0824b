// What training does to the matrices of attention: the learning record that a frame of the film
// carries, and a table of all tensors as they are now.
//
// For every W_Q, W_K, W_V, W_O and every embedding table: the gradient's norm (before clipping),
// the weight's norm (after the step), how far the step moved it as a share of its norm, and the
// cosine between it and its initial value. These are the trained weights, not their average. For
// every head: the entropy of a row of its attention, mean over the rows of the frame's maps, beside
// that of uniform attention over the same keys. Numbers have six digits.
#pragma once

#include <vector>

#include "base/json_fwd.h"
#include "base/pool.h"
#include "base/std_names.h"
#include "show/attention_maps.h"
#include "store/run_records.h"

namespace heed {

// Measures the matrices around an update. Keeps two copies of them: their initial values and those
// before the update. The numbers do not depend on the number of threads.
class LearningRecord {
 public:
  explicit LearningRecord(const ParamTable& table);
  // The weights of step 0, for the cosine to them; unknown before this call.
  void began_with(const ParamVec<float>& initial) { initial_ = watched(initial); }
  void before_update(const ParamVec<float>& values, const ParamVec<float>& gradients);
  // Of the update since before_update(). Without one: norms and cosines alone.
  ByName<MatrixChange> measure(const ParamVec<float>& values, Pool& pool);

 private:
  vector<vector<float>> watched(const ParamVec<float>& values) const;

  vector<const ParamInfo*> matrices_;
  // Values of each matrix; empty if unknown.
  vector<vector<float>> initial_, before_;
  vector<double> gradient_norms_;
};

// How many values the recorded matrices have.
size_t recorded_size(const ParamTable& table);

// The mean entropy of a row of each head.
ByName<Entropy> entropy_of(const AttentionMaps& maps);

// [{"step", "matrices", "entropy"}] of the frames with a record.
Json learning_json(const vector<Frame>& frames);
// The last of these whose step moved a matrix: a schedule may end at rate 0. Null: none did.
Json last_move(const Json& learning);

// Of every tensor: [{"name", "shape", "norm", "initial_norm", "distance", "cosine", "mean",
// "deviation"}]. Norms are L2; the distance is to the initial values, as the cosine is.
Json tensor_table(const ParamTable& table, const ParamVec<float>& values,
                  const ParamVec<float>& initial);

}  // namespace heed
