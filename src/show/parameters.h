// The parameter table of a trained model: the norm of every tensor and how far training has moved
// it since step 0.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "nn/transformer.h"

namespace heed {

// Two tensors as vectors.
struct Comparison {
  double squares = 0;               // of the first one
  double norm = 0, other_norm = 0;  // L2
  double distance = 0;
  double cosine = 1;  // 1 if both are zero, 0 if only one is
};
Comparison compare(const float* one, const float* other, std::size_t size);

struct ParameterRow {
  std::string name;
  std::vector<std::int64_t> shape;
  double norm = 0;          // L2
  double initial_norm = 0;  // at step 0
  double distance = 0;      // |now - initial|
  double cosine = 1;        // between now and initial
  double mean = 0, deviation = 0;
};

std::vector<ParameterRow> parameter_table(const Transformer& model, const ParamVec<float>& values,
                                          const ParamVec<float>& initial);
// [{"name", "shape", "norm", "initial_norm", "distance", "cosine", "mean", "deviation"}]
nlohmann::ordered_json json_of(const std::vector<ParameterRow>& rows);

}  // namespace heed
