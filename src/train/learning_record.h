// What a step does to attention: the learning record of metrics.jsonl.
//
// For every W_Q, W_K, W_V, W_O and every embedding table: the gradient's norm (before clipping),
// the weight's norm (after the step), how far the step moved it as a share of its norm, and the
// cosine between it and its initial value. For every head: the entropy of a row of its attention,
// mean over the rows of a fixed small batch of the held-out text, beside that of uniform attention
// over the same keys. It measures the trained weights, not their average.
//
// The training thread begins and ends a record and lends it the pool; the numbers do not depend on
// the number of threads. Two copies of the recorded matrices are kept: their initial values and
// those before the update.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "data/objective.h"
#include "nn/transformer.h"

namespace heed {

struct MatrixLearning {
  std::string name;
  double gradient_norm = 0, weight_norm = 0;  // L2
  double update_ratio = 0;                    // |after - before| / |before|; 0 if that was zero
  double cosine = 1;  // of current and initial values, see cosine(); NaN if those are unknown
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

class LearningRecord {
 public:
  // Entropies are measured on at most this many tokens; a longer sequence is cut.
  static constexpr int kProbeTokens = 256;

  // Entropies are measured on the first examples of `probe`. The model must outlive the record.
  LearningRecord(const Transformer& model, const ExampleList& probe);
  // The weights of step 0, for the cosine to them; unknown before this call.
  void began_with(const ParamVec<float>& initial) { initial_ = watched(initial); }
  // Reads them from the run, if it did not begin with those of the seed. Warns if they are damaged:
  // then they are unknown.
  void began_as(const std::filesystem::path& run, Log& log);

  void before_update(const ParamVec<float>& values, const ParamVec<float>& gradients);
  // The record of the update since before_update(); nothing if that was not called.
  std::optional<Learning> after_update(const ParamVec<float>& values, Pool& pool);

 private:
  std::vector<std::vector<float>> watched(const ParamVec<float>& values) const;
  void measure(std::size_t i, const ParamVec<float>& values);

  const Transformer* model_;
  Batch probe_;
  Workspace workspace_;
  std::vector<const ParamInfo*> matrices_;
  // Values of each matrix. `initial_` is empty if they are unknown.
  std::vector<std::vector<float>> initial_, before_;
  bool watching_ = false;
  Learning learning_;
};

// How many values the recorded matrices have.
std::size_t recorded_size(const ParamTable& table);

// The cosine of two tensors with these squared norms and this inner product: 1 if both are zero, 0
// if only one is.
double cosine(double aa, double bb, double ab);

// The record in metrics.jsonl:
//   {"matrices": {NAME: {"gradient_norm", "weight_norm", "update_ratio", "cosine"}, ...},
//    "entropy": {"encoder" | "decoder" | "cross": {"uniform", "heads": [layer][head]}, ...}}
// Numbers have six digits; null stands for NaN and infinity.
nlohmann::ordered_json json_of(const Learning& learning);
// Nothing if `json` has another form. A null is read as NaN.
std::optional<Learning> learning_from_json(const nlohmann::ordered_json& json);

}  // namespace heed
