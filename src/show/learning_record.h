// What a step does to attention: the learning record that a frame of the film carries.
//
// For every W_Q, W_K, W_V, W_O and every embedding table: the gradient's norm (before clipping),
// the weight's norm (after the step), how far the step moved it as a share of its norm, and the
// cosine between it and its initial value. These are the trained weights, not their average. For
// every head: the entropy of a row of its attention, mean over the rows of the frame's maps, beside
// that of uniform attention over the same keys.
#pragma once

#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/pool.h"
#include "show/attention_maps.h"

namespace heed {

struct MatrixLearning {
  std::string name;
  // NaN: not known.
  double gradient_norm = std::numeric_limits<double>::quiet_NaN();
  double weight_norm = 0;               // L2
  double update_ratio = gradient_norm;  // |after - before| / |before|; 0 if that was zero
  double cosine = 1;                    // of current and initial values
};
struct KindEntropy {
  AttentionKind kind;
  double uniform = 0;                      // nats, of uniform attention
  std::vector<std::vector<double>> heads;  // [layer][head] nats
};
struct Learning {
  std::vector<MatrixLearning> matrices;
  std::vector<KindEntropy> entropy;
};

// Measures the matrices around an update. Keeps two copies of them: their initial values and those
// before the update. The numbers do not depend on the number of threads.
class LearningRecord {
 public:
  explicit LearningRecord(const ParamTable& table);
  // The weights of step 0, for the cosine to them; unknown before this call.
  void began_with(const ParamVec<float>& initial) { initial_ = watched(initial); }
  void before_update(const ParamVec<float>& values, const ParamVec<float>& gradients);
  // Of the update since before_update(). Without one: norms and cosines alone.
  std::vector<MatrixLearning> measure(const ParamVec<float>& values, Pool& pool);

 private:
  std::vector<std::vector<float>> watched(const ParamVec<float>& values) const;

  std::vector<const ParamInfo*> matrices_;
  // Values of each matrix; empty if unknown.
  std::vector<std::vector<float>> initial_, before_;
  std::vector<double> gradient_norms_;
};

// What can be told of weights without the update that made them: norms and cosines.
std::vector<MatrixLearning> record_of(const ParamTable& table, const ParamVec<float>& values,
                                      const ParamVec<float>& initial);

// How many values the recorded matrices have.
std::size_t recorded_size(const ParamTable& table);

// The mean entropy of a row of each head.
std::vector<KindEntropy> entropy_of(const AttentionMaps& maps);

// The record in a frame:
//   "matrices": {NAME: {"gradient_norm", "weight_norm", "update_ratio", "cosine"}, ...}
//   "entropy": {"encoder" | "decoder" | "cross": {"uniform", "heads": [layer][head]}, ...}
// Numbers have six digits; null stands for NaN and infinity.
nlohmann::ordered_json json_of(const Learning& learning);
// Nothing if the frame has no record, or one of another form. A null is read as NaN.
std::optional<Learning> learning_of(const nlohmann::ordered_json& frame);

}  // namespace heed
