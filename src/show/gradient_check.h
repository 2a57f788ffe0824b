// Checks gradients against central differences in double: of a whole model for `heed gradcheck`, of
// a function for the tests of the layers.
//
//   f'(x) = (f(x - 2h) - 8 f(x - h) + 8 f(x + h) - f(x + 2h)) / 12 h + O(h^4)
//   error = |a - n| / max(|a|, |n|, floor)       a analytic, n numeric
//
// With a shorter h, what is left out shrinks as h^4, the rounding of f grows as 1 / h, and a wrong
// gradient stays wrong: so a second h tells them apart.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "base/json_fwd.h"
#include "base/std_names.h"
#include "nn/transformer.h"

namespace heed {

inline constexpr double kGradientStep = 2e-4, kShorterStep = kGradientStep / 4;  // h
inline constexpr double kGradientTolerance = 1e-6;

// The derivative of f() by x, which f reads. x gets its value back.
template <class F>
double central_difference(double& x, F&& f, double h = kGradientStep) {
  const double start = x;
  const auto at = [&](double step) {
    x = start + step;
    return f();
  };
  const double slope = (at(-2 * h) - at(2 * h) + 8 * (at(h) - at(-h))) / (12 * h);
  x = start;
  return slope;
}

inline double gradient_error(double analytic, double numeric, double floor) {
  const double scale = max({abs(analytic), abs(numeric), floor});
  return scale == 0 ? 0.0 : abs(analytic - numeric) / scale;  // NaN stays NaN
}

inline double largest_of(span<const double> x) {
  double m = 0;
  for (const double v : x) m = max(m, abs(v));
  return m;
}

// The rounding of f, a sum of terms whose sizes add up to `size`, leaves about this much in a
// central difference. A gradient that should be exactly zero shows it: that of a key bias without
// rotary positions and norm of keys, because softmax ignores what is added to every score.
inline double rounding_noise(double size) {
  constexpr double kRoundings = 8;  // a few in each of the four values of f, and room
  return kRoundings * numeric_limits<double>::epsilon() * abs(size) / kShorterStep;
}

// The scale below which an error cannot be seen. `largest`: the largest |gradient| of all tensors.
inline double gradient_floor(span<const double> tensor, double largest, double noise) {
  return max({1e-3 * largest_of(tensor), 1e-8 * largest, noise / kGradientTolerance});
}

// What differences say of a gradient: it is wrong if those of two steps agree with each other and
// not with it; neither right nor wrong if they cannot tell.
struct GradientVerdict {
  bool right, wrong;
  double error, numeric;  // of the last step tried
};
template <class Numeric>  // numeric(h)
GradientVerdict check_gradient(double analytic, double floor, Numeric&& numeric) {
  const auto at = [&](double h) {
    const double n = numeric(h), error = gradient_error(analytic, n, floor);
    return GradientVerdict{error <= kGradientTolerance, false, error, n};
  };
  const GradientVerdict first = at(kGradientStep);
  if (first.right) return first;
  GradientVerdict v = at(kShorterStep);
  const double apart = abs(first.numeric - v.numeric);
  v.wrong = !v.right && !(apart > 0.1 * abs(analytic - v.numeric));  // NaN is wrong
  return v;
}

// Of every tensor: {"tensor", "entries": compared, "cannot_tell": where differences are too
// inexact, "worst_error", "worst_entry", "analytic", "numeric": where the error is largest, of the
// entries that are wrong if any are, "ok": none is wrong}. The error's floor is the largest of 1e-3
// max|tensor|, 1e-8 max|all| and what the rounding of the loss leaves in n. Differences are wrong
// across the corner of relu: the caller must redraw values whose activations come nearer to it than
// ten steps (smallest_relu_input()).
vector<Json> check_gradients(const Transformer& model, const ParamVec<double>& values,
                             const Batch& batch, double smoothing);

// The smallest |u| that any relu reads; infinity for smooth activations.
double smallest_relu_input(const Transformer& model, const ParamVec<double>& values,
                           const Batch& batch);

}  // namespace heed
