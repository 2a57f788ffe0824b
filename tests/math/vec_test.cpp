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

}  // namespace
}  // namespace heed
