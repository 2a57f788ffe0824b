// exp and the normal distribution for single numbers, written so that loops over float vectorise.
// The double versions use the C library, since double only serves to check gradients. NaN stays
// NaN.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace heed {

// a * b + c, rounded once if the CPU can. Otherwise the compiler may fuse product and sum in one
// version of a loop and not in another, and the last bit would depend on the alignment of the data.
// (-ffp-contract=off does not help: g++ 12 still turns a rotation into vfmaddsub.)
template <class T>
inline T fuse(T a, T b, T c) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return std::fma(a, b, c);
#else
  return a * b + c;
#endif
}

// exp(x) with relative error below 2e-7 on [-87, 88]; clamped outside, so never zero or infinite.
// x = n ln 2 + r with |r| <= ln 2 / 2; exp(r) is a Taylor polynomial of degree 7.
inline float fast_exp(float x) {
  x = x < -87.0f ? -87.0f : x;
  x = x > 88.0f ? 88.0f : x;
  // Adding and subtracting 1.5 * 2^23 rounds to the nearest integer.
  constexpr float kRound = 12582912.0f;
  const float shifted = x * 1.44269504088896341f + kRound;
  const float n = shifted - kRound;
  const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = 1.0f / 5040.0f;
  p = p * r + 1.0f / 720.0f;
  p = p * r + 1.0f / 120.0f;
  p = p * r + 1.0f / 24.0f;
  p = p * r + 1.0f / 6.0f;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  const std::int32_t exponent = std::bit_cast<std::int32_t>(shifted) - 0x4B400000;
  return p * std::bit_cast<float>((exponent + 127) << 23);
}
inline double fast_exp(double x) {
  return std::exp(x);
}

// The standard normal distribution:
//   cdf = (1 + erf(x / sqrt 2)) / 2,   pdf = exp(-x^2/2) / sqrt(2 pi)
template <class T>
struct Normal {
  T cdf, pdf;
};
// erf as in Abramowitz and Stegun 1964, 7.1.26 (absolute error below 1.5e-7), which shares its exp
// with the pdf. With the rounding of float the cdf is exact to 3e-7.
inline Normal<float> standard_normal(float x) {
  const float z = (x < 0.0f ? -x : x) * 0.70710678118654752f;
  const float t = 1.0f / (1.0f + 0.3275911f * z);
  const float e = fast_exp(-0.5f * x * x);
  const float poly =
      ((((1.061405429f * t - 1.453152027f) * t + 1.421413741f) * t - 0.284496736f) * t +
       0.254829592f) *
      t;
  const float tail = 0.5f * poly * e;  // of the side x is on
  return {x < 0.0f ? tail : 1.0f - tail, e * 0.39894228040143268f};
}
inline Normal<double> standard_normal(double x) {
  return {0.5 * std::erfc(-x * 0.70710678118654752440),
          std::exp(-0.5 * x * x) * 0.39894228040143267794};
}

}  // namespace heed
