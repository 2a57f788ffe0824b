// Checks every gradient against central differences in double; the tests of the layers do it with
// the same functions.
//
//   f'(x) = (f(x - 2h) - 8 f(x - h) + 8 f(x + h) - f(x + 2h)) / 12 h + O(h^4)
//
// The error of an entry is |a - n| / max(|a|, |n|, 1e-3 max|tensor|, 1e-8 max|all|), where a is the
// analytic and n the numeric gradient. Differences are wrong across the corner of relu: the caller
// must redraw values whose activations come nearer to it than ten steps (`smallest_relu_input`). A
// key bias without rotary positions has gradient zero and is compared on the scale 1e-3 max|all|.
#pragma once

#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nn/transformer.h"

namespace heed {

inline constexpr double kGradientStep = 2e-4;  // h
inline constexpr double kGradientTolerance = 1e-6;

// The derivative of f() by x, which f reads. x gets its value back.
template <class F>
double central_difference(double& x, F&& f) {
  const double start = x, h = kGradientStep;
  const auto at = [&](double step) {
    x = start + step;
    return f();
  };
  const double slope = (at(-2 * h) - at(2 * h) + 8 * (at(h) - at(-h))) / (12 * h);
  x = start;
  return slope;
}

double gradient_error(double analytic, double numeric, double floor);

double largest_of(std::span<const double> x);

// Softmax ignores a constant added to every score of a query. So without rotary positions and norm
// of keys the gradient of a key bias is exactly zero, and the numeric one is rounding noise.
bool is_exactly_zero(std::string_view tensor, bool rotary, bool qk_norm);

// `largest`: the largest |gradient| of all tensors.
double gradient_floor(std::span<const double> tensor, double largest, bool exactly_zero);

struct TensorCheck {
  std::string name;
  std::size_t entries = 0;  // compared
  double worst = 0.0;       // error, as above
  std::size_t worst_entry = 0;
  double analytic = 0.0, numeric = 0.0;  // there
  bool ok() const { return worst <= kGradientTolerance; }
};

// Compares at most `entries_per_tensor` entries of each tensor, spread evenly; 0: all.
std::vector<TensorCheck> check_gradients(const Transformer& model, const ParamVec<double>& values,
                                         const Batch& batch, double smoothing,
                                         std::size_t entries_per_tensor = 0);

// The smallest |u| that any relu reads; infinity for smooth activations.
double smallest_relu_input(const Transformer& model, const ParamVec<double>& values,
                           const Batch& batch);

}  // namespace heed
