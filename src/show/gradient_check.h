// Checks every gradient against central differences in double (show/central_difference.h).
//
// The error of an entry is |a - n| / max(|a|, |n|, 1e-3 max|tensor|, 1e-8 max|all|, noise / 1e-6),
// where a is the analytic and n the numeric gradient (five-point stencil), and noise is what the
// rounding of the loss leaves in n. Differences are wrong across the corner of relu: the caller
// must redraw values whose activations come nearer to it than ten steps (`smallest_relu_input`).
#pragma once

#include <string>
#include <vector>

#include "data/objective.h"
#include "nn/transformer.h"
#include "show/central_difference.h"

namespace heed {

struct TensorCheck {
  std::string name;
  std::size_t entries = 0;  // compared
  std::size_t wrong = 0;
  std::size_t cannot_tell = 0;  // differences are too inexact there
  std::size_t worst_entry = 0;  // with the largest error; of those that are wrong, if any are
  double worst = 0.0;           // its error, as above
  double analytic = 0.0, numeric = 0.0;  // there
  bool ok() const { return wrong == 0; }
};

// Compares at most `entries_per_tensor` entries of each tensor, spread evenly; 0: all.
std::vector<TensorCheck> check_gradients(const Transformer& model, const ParamVec<double>& values,
                                         const Batch& batch, double smoothing,
                                         std::size_t entries_per_tensor = 0);

// The same for the pull (show/pull.h) of each layer's heads, for one example with labels: each
// score of the forward pass is moved.
std::vector<TensorCheck> check_pull(const Transformer& model, const ParamVec<double>& values,
                                    const Example& example);

// The smallest |u| that any relu reads; infinity for smooth activations.
double smallest_relu_input(const Transformer& model, const ParamVec<double>& values,
                           const Batch& batch);

}  // namespace heed
