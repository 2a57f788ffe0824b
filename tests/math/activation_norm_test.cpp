// Activations and norms against formulas in double and against differences.
#include "math/activation.h"

#include <numbers>

#include "math/buffer.h"
#include "math/dropout.h"
#include "math/normalize.h"
#include "math/row_ops.h"

namespace heed {
namespace {

using test::Buffer;
using test::kRounding;

double value(Activation f, double u) {
  switch (f) {
    case Activation::relu:
      return std::max(0.0, u);
    case Activation::gelu:
      return 0.5 * u * (1 + std::erf(u / std::sqrt(2.0)));
    case Activation::silu:
      return u / (1 + std::exp(-u));
    case Activation::relu2:
      return std::max(0.0, u) * std::max(0.0, u);
    case Activation::gelu_tanh:
      return 0.5 * u *
             (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (u + 0.044715 * u * u * u)));
  }
  return 0;
}

double slope(Activation f, double u) {
  if (f == Activation::relu) return u > 0;
  if (f == Activation::relu2) return 2 * std::max(0.0, u);
  const double h = 1e-3;
  const auto at = [&](double step) { return value(f, u + step); };
  return (at(-2 * h) - at(2 * h) + 8 * (at(h) - at(-h))) / (12 * h);
}

constexpr Activation kAll[] = {Activation::relu, Activation::gelu, Activation::silu,
                               Activation::relu2, Activation::gelu_tanh};

template <class T>
class Activations : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Activations, Types);

TYPED_TEST(Activations, ForwardAndBackwardWithAndWithoutDropout) {
  using T = TypeParam;
  const int rows = 6, cols = 45;
  std::vector<std::uint64_t> keys;
  for (int r = 0; r < rows; ++r) keys.push_back(combine(1, r));
  for (Activation f : kAll)
    for (double rate : {0.0, 0.25}) {
      const Dropout d{rate, keys.data(), 4};
      Buffer<T> ones(rows, cols), keep(rows, cols), h(rows, cols);
      ones.fill(T{1});
      drop(ones.view(), keep.mat(), d);
      const auto u = Buffer<T>::random(rows, cols, 1, 6), dh = Buffer<T>::random(rows, cols, 2);
      activate(f, u.view(), h.mat(), d);
      // gelu in float: the error function's bound, 1.5e-7 / 2, times u. relu2: numbers up to 50.
      const double tolerance = (f == Activation::relu2 ? 50 : 3) * kRounding<T>;
      test::expect_near(
          h, [&](int r, int c) { return keep(r, c) * value(f, u(r, c)); }, tolerance);
      Buffer<T> du = dh, again(rows, cols), slopes = u;
      activate_with_slope(f, slopes.mat(), again.mat(), d);
      test::expect_near(
          again, [&](int r, int c) { return h(r, c); }, tolerance / 3);
      multiply_by(slopes.view(), du.mat());
      test::expect_near(
          du, [&](int r, int c) { return keep(r, c) * dh(r, c) * slope(f, u(r, c)); },
          std::max(tolerance, 1e-10));
    }
}

TYPED_TEST(Activations, NanStaysNanAndFarOutIsFinite) {
  using T = TypeParam;
  for (Activation f : kAll) {
    Buffer<T> u(1, 4), h(1, 4);
    u(0, 0) = std::numeric_limits<T>::quiet_NaN();
    u(0, 1) = T{1e4};
    u(0, 2) = T{-1e4};
    u(0, 3) = T{0};
    activate(f, u.view(), h.mat(), {});
    EXPECT_TRUE(std::isnan(h(0, 0)));
    EXPECT_EQ(h(0, 1), f == Activation::relu2 ? T{1e8} : T{1e4});
    EXPECT_NEAR(h(0, 2), 0, 1e-30);
    EXPECT_EQ(h(0, 3), 0);
    Buffer<T> d(1, 4), again(1, 4);
    d.fill(T{1});
    activate_with_slope(f, u.mat(), again.mat(), {});
    EXPECT_TRUE(std::isnan(again(0, 0)));
    multiply_by(u.view(), d.mat());
    EXPECT_NEAR(d(0, 1), slope(f, 1e4), 1e-6);
    EXPECT_NEAR(d(0, 2), 0, 1e-25);
  }
}

template <class T>
class Norms : public testing::Test {};
TYPED_TEST_SUITE(Norms, Types);

constexpr NormKind kLayer,
    kKinds[] = {kLayer, {NormType::rms}, {NormType::layer, 0.1}, {NormType::rms, 0.1}};

// RMSNorm: x / sqrt(mean(x^2) + eps) * gain
double normed(NormKind kind, const double* x, int n, int c, double gain, double bias) {
  double mean = 0, variance = 0;
  if (kind.type == NormType::layer)
    for (int i = 0; i < n; ++i) mean += x[i] / n;
  for (int i = 0; i < n; ++i) variance += (x[i] - mean) * (x[i] - mean) / n;
  return (x[c] - mean) / std::sqrt(variance + kind.eps) * gain + bias;
}

TYPED_TEST(Norms, ForwardEqualsTheFormula) {
  using T = TypeParam;
  for (const NormKind kind : kKinds)
    for (const auto& [n, offset] :
         {std::pair{2, 0.0}, {3, 10.0}, {8, 0.0}, {8, 10.0}, {13, 0.0}, {130, 0.0}, {130, 10.0}}) {
      auto x = Buffer<T>::random(5, n, 1, 2);
      for (int r = 0; r < 5; ++r)
        for (int c = 0; c < n; ++c) x(r, c) += static_cast<T>(offset);
      const auto gain = Buffer<T>::random(1, n, 2), bias = Buffer<T>::random(1, n, 3);
      Buffer<T> y(5, n), stats(5, 2);
      normalize(kind, x.view(), gain.view(), bias.view(), y.mat(), stats.mat());
      test::expect_near(
          y,
          [&](int r, int c) {
            const std::vector<double> row(x.view().row(r), x.view().row(r) + n);
            return normed(kind, row.data(), x.cols(), c, gain(0, c), bias(0, c));
          },
          kRounding<T> * (4 + 4 * offset));
      EXPECT_TRUE(stats.padding_untouched());
      normalize(kind, x.view(), gain.view(), bias.view(), x.mat(), stats.mat());  // y may be x
      test::expect_near(
          x, [&](int r, int c) { return y(r, c); }, 0);
    }
}

}  // namespace
}  // namespace heed
