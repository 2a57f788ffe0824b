// Activations at the ends (their formulas: nn/layer_test.cpp and nn/transformer_test.cpp), norms
// against formulas in double.
#include "math/activation.h"

#include "math/buffer.h"
#include "math/normalize.h"
#include "math/row_ops.h"

namespace heed {
namespace {

using test::Buffer;
using test::kRounding;

constexpr Activation kAll[] = {Activation::relu, Activation::gelu, Activation::silu,
                               Activation::relu2, Activation::gelu_tanh};

template <class T>
class Activations : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Activations, Types);

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
    EXPECT_NEAR(d(0, 1), f == Activation::relu2 ? 2e4 : 1, 1e-6);
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
