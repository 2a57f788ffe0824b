// Softmax and the smoothed cross-entropy, ordinary and at the ends.
#include <algorithm>

#include "math/buffer.h"
#include "math/softmax.h"

namespace heed {
namespace {

using test::Buffer;
using test::kRounding;

template <class T>
class Softmax : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Softmax, Types);

std::vector<double> softmax_of(const std::vector<double>& x) {
  const double m = *std::max_element(x.begin(), x.end());
  std::vector<double> p;
  double sum = 0;
  for (double v : x) sum += p.emplace_back(std::exp(v - m));
  for (double& v : p) v /= sum;
  return p;
}

TYPED_TEST(Softmax, LargeScoresDoNotOverflow) {
  using T = TypeParam;
  for (double big : {1e4, -1e4, 1e30, -1e30}) {
    std::vector<T> x(9, static_cast<T>(big));
    softmax(x.data(), 9, 9);
    for (T p : x) EXPECT_NEAR(p, 1.0 / 9, 1e-7);
  }
  std::vector<T> x{T{1e4}, T{0}, T{-1e4}};
  softmax(x.data(), 3, 3);
  EXPECT_NEAR(x[0], 1, 1e-7);
  EXPECT_NEAR(x[1], 0, 1e-30);
  EXPECT_NEAR(x[2], 0, 1e-30);
}

TYPED_TEST(Softmax, NanAnywherePoisonsTheRow) {
  using T = TypeParam;
  for (int at = 0; at < 19; ++at) {
    std::vector<T> x(19, T{1});
    x[at] = std::numeric_limits<T>::quiet_NaN();
    softmax(x.data(), 19, 19);
    for (T p : x) EXPECT_TRUE(std::isnan(p)) << at;
  }
}

template <class T>
class CrossEntropy : public testing::Test {};
TYPED_TEST_SUITE(CrossEntropy, Types);

struct Expected {
  double objective, nll;
  std::vector<double> gradient;
};

Expected expected_loss(const std::vector<double>& logits, int label, double smoothing) {
  const int n = static_cast<int>(logits.size());
  const auto p = softmax_of(logits);
  Expected e{0, -std::log(p[label]), {}};
  for (int c = 0; c < n; ++c) {
    const double target = (1 - smoothing) * (c == label) + smoothing / n;
    e.objective -= target * std::log(p[c]);
    e.gradient.push_back(p[c] - target);
  }
  return e;
}

TYPED_TEST(CrossEntropy, LossAndGradientEqualTheFormula) {
  using T = TypeParam;
  for (int classes : {1, 2, 7, 64, 1500})  // sums go by blocks of 512
    for (double smoothing : {0.0, 0.1})
      for (int label : {0, classes / 2, classes - 1}) {
        const auto x = Buffer<T>::random(1, classes, classes, 5);
        const Expected e =
            expected_loss({x.view().data, x.view().data + classes}, label, smoothing);
        const RowLoss loss = cross_entropy(x.view().data, classes, label, smoothing);
        EXPECT_NEAR(loss.nll, e.nll, 5 * kRounding<T>);
        EXPECT_NEAR(loss.objective, e.objective, 5 * kRounding<T>);
        Buffer<T> d = x;
        const RowLoss again =
            cross_entropy_backward(d.mat().data, classes, label, smoothing, T{0.5});
        EXPECT_NEAR(again.nll, loss.nll, kRounding<T>);
        EXPECT_NEAR(again.objective, loss.objective, kRounding<T>);
        test::expect_near(
            d, [&](int, int c) { return 0.5 * e.gradient[c]; }, kRounding<T>);
      }
}

TYPED_TEST(CrossEntropy, LargeLogitsStayFinite) {
  using T = TypeParam;
  const std::vector<T> x{T{1e4}, T{-1e4}, T{9.99e3}};
  EXPECT_NEAR(cross_entropy(x.data(), 3, 0, 0.0).nll, std::exp(-10.0), 1e-6);
  EXPECT_NEAR(cross_entropy(x.data(), 3, 1, 0.0).nll, 2e4, 1e-2);
  std::vector<T> d = x;
  cross_entropy_backward(d.data(), 3, 1, 0.0, T{1});
  EXPECT_NEAR(d[0], 1, 1e-4);
  EXPECT_NEAR(d[1], -1, 1e-6);
}

TYPED_TEST(CrossEntropy, NanAnywherePoisonsLossAndGradient) {
  using T = TypeParam;
  for (int at : {0, 3, 8}) {
    std::vector<T> x(9, T{1});
    x[at] = std::numeric_limits<T>::quiet_NaN();
    EXPECT_TRUE(std::isnan(cross_entropy(x.data(), 9, 2, 0.0).nll)) << at;
    EXPECT_TRUE(std::isnan(cross_entropy_backward(x.data(), 9, 2, 0.0, T{1}).objective)) << at;
    for (T d : x) EXPECT_TRUE(std::isnan(d));
  }
}

}  // namespace
}  // namespace heed
