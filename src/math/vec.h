// exp and the normal distribution for single numbers, written so that loops over float vectorise.
// The double versions use the C library, since double is only for gradient checks. NaN stays
// NaN.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "base/std_names.h"
#include "math/lanes.h"

namespace heed {

// exp(x) with relative error below 2e-7 on [-87, 88]; clamped outside, so never zero or infinite.
// x = n ln 2 + r with |r| <= ln 2 / 2; exp(r) is a Taylor polynomial of degree 7.
template <class V>  // float, or a vector of floats
inline V fast_exp_of(V x) {
  using Int = std::conditional_t<is_same_v<V, float>, int32_t, decltype(x < x)>;
  const auto all = [](float c) { return c - V{}; };
  x = x < all(-87.0f) ? all(-87.0f) : x;
  x = x > all(88.0f) ? all(88.0f) : x;
  // Adding and subtracting 1.5 * 2^23 rounds to the nearest integer.
  const V round = all(12582912.0f), shifted = fuse(x, all(1.44269504088896341f), round);
  const V n = shifted - round;
  const V r = fuse(n, all(2.12194440e-4f), fuse(n, all(-0.693359375f), x));
  V p = all(1.0f / 5040.0f);
  p = fuse(p, r, all(1.0f / 720.0f));
  p = fuse(p, r, all(1.0f / 120.0f));
  p = fuse(p, r, all(1.0f / 24.0f));
  p = fuse(p, r, all(1.0f / 6.0f));
  p = fuse(p, r, all(0.5f));
  p = fuse(p, r, all(1.0f));
  p = fuse(p, r, all(1.0f));
  const Int exponent = std::bit_cast<Int>(shifted) - 0x4B400000;
  return p * std::bit_cast<V>(Int((exponent + 127) << 23));
}
inline float fast_exp(float x) {
  return fast_exp_of(x);
}
inline double fast_exp(double x) {
  return exp(x);
}
template <class T>
Lanes<T> fast_exp(const Lanes<T>& x) {
  using Part = typename Lanes<T>::Part;
  return Lanes<T>::each(
      [](Part part) {
        if constexpr (sizeof(T) == 4) return fast_exp_of(part);
        for (int i = 0; i < Lanes<T>::kPartSize; ++i) part[i] = exp(part[i]);
        return part;
      },
      x);
}

// The standard normal distribution:
//   cdf = (1 + erf(x / sqrt 2)) / 2,   pdf = exp(-x^2/2) / sqrt(2 pi)
template <class T>
struct Normal {
  T cdf, pdf;
};
// erf as in Abramowitz and Stegun 1964, 7.1.26 (absolute error below 1.5e-7), which shares its exp
// with the pdf. With float rounding, the cdf is accurate to 3e-7.
inline Normal<float> standard_normal(float x) {
  const float z = (x < 0.0f ? -x : x) * 0.70710678118654752f;
  const float t = 1.0f / fuse(0.3275911f, z, 1.0f);
  const float e = fast_exp(-0.5f * x * x);
  float poly = fuse(1.061405429f, t, -1.453152027f);
  poly = fuse(poly, t, 1.421413741f);
  poly = fuse(poly, t, -0.284496736f);
  poly = fuse(poly, t, 0.254829592f) * t;
  const float half = 0.5f * poly;  // half * e is the tail of the side that x is on
  return {x < 0.0f ? half * e : fuse(-half, e, 1.0f), e * 0.39894228040143268f};
}
inline Normal<double> standard_normal(double x) {
  return {0.5 * std::erfc(-x * 0.70710678118654752440), exp(-0.5 * x * x) * 0.39894228040143267794};
}

}  // namespace heed
