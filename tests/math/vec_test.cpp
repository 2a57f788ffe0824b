#include "math/vec.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace heed {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(FastExp, RelativeErrorBelow2e7) {
  double worst = 0;
  for (double x = -87; x <= 88; x += 1.7e-4) {
    const float f = static_cast<float>(x);
    worst = std::max(worst, std::abs(fast_exp(f) / std::exp(static_cast<double>(f)) - 1));
  }
  EXPECT_LT(worst, 2e-7);
}

TEST(FastExp, NeverZeroNeverInfinite) {
  for (float x : {-kInf, -1e30f, -1000.0f, -88.0f, 89.0f, 1000.0f, 1e30f, kInf}) {
    EXPECT_GT(fast_exp(x), 0.0f) << x;
    EXPECT_LT(fast_exp(x), kInf) << x;
  }
  EXPECT_LT(fast_exp(-kInf), 2e-38f);
  EXPECT_GT(fast_exp(kInf), 1e38f);
}

TEST(FastExp, NanStaysNan) {
  EXPECT_TRUE(std::isnan(fast_exp(kNan)));
  EXPECT_TRUE(std::isnan(fast_exp(-kNan)));
  EXPECT_TRUE(std::isnan(fast_exp(std::bit_cast<float>(0x7FBFFFFFu))));  // another payload
  EXPECT_TRUE(std::isnan(fast_exp(static_cast<double>(kNan))));
}

TEST(StandardNormal, WithinItsBounds) {
  double worst_cdf = 0, worst_pdf = 0;
  for (double x = -12; x <= 12; x += 1.3e-5) {
    const float f = static_cast<float>(x);
    const Normal<float> fast = standard_normal(f);
    const Normal<double> exact = standard_normal(static_cast<double>(f));
    worst_cdf = std::max(worst_cdf, std::abs(fast.cdf - exact.cdf));
    worst_pdf = std::max(worst_pdf, std::abs(fast.pdf / exact.pdf - 1));
  }
  EXPECT_LT(worst_cdf, 3e-7);
  EXPECT_LT(worst_pdf, 5e-6);  // x^2 / 2 is rounded before exp: 72 * 6e-8
}

TEST(StandardNormal, DoubleAgainstKnownValues) {
  // The quantile of 0.975, and 1: 12 digits from tables.
  EXPECT_NEAR(standard_normal(1.959963984540054).cdf, 0.975, 1e-15);
  EXPECT_NEAR(standard_normal(-1.959963984540054).cdf, 0.025, 1e-15);
  EXPECT_NEAR(standard_normal(1.0).cdf, 0.841344746069, 1e-12);
  EXPECT_NEAR(standard_normal(0.0).pdf, 0.398942280401, 1e-12);
  EXPECT_NEAR(standard_normal(1.0).pdf, 0.241970724519, 1e-12);
}

TEST(StandardNormal, Ends) {
  EXPECT_EQ(standard_normal(kInf).cdf, 1.0f);
  EXPECT_EQ(standard_normal(-kInf).cdf, 0.0f);
  EXPECT_LT(standard_normal(-kInf).pdf, 1e-37f);
  EXPECT_TRUE(std::isnan(standard_normal(kNan).cdf));
  EXPECT_TRUE(std::isnan(standard_normal(kNan).pdf));
}

}  // namespace
}  // namespace heed
