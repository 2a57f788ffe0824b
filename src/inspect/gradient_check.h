// Every gradient against central differences in double.
//
// Per entry the error is |a - n| / max(|a|, |n|, 1e-3 max|tensor|, 1e-8 max|all|), a the analytic
// and n the numeric gradient, by the five-point stencil. Relu has a corner that differences cannot
// see past: values whose activations come nearer than ten steps to it must be redrawn by the
// caller, who learns of it from `smallest_relu_input`. A key bias without rotary positions, whose
// gradient is exactly zero, is compared on the scale 1e-3 max|all|.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "inspect/central_difference.h"
#include "nn/transformer.h"

namespace heed {

struct TensorCheck {
  std::string name;
  std::size_t entries = 0;  // compared
  double worst = 0.0;       // error, as above
  std::size_t worst_entry = 0;
  double analytic = 0.0, numeric = 0.0;  // there
  bool ok() const { return worst <= kGradientTolerance; }
};

// Compares at most `entries_per_tensor` entries of each tensor, spread evenly; all if it is 0.
std::vector<TensorCheck> check_gradients(const Transformer& model, const ParamVec<double>& values,
                                         const Batch& batch, double smoothing,
                                         std::size_t entries_per_tensor = 0);

// The smallest |u| any relu sees; infinity for smooth activations.
double smallest_relu_input(const Transformer& model, const ParamVec<double>& values,
                           const Batch& batch);

}  // namespace heed
