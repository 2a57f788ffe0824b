#include "show/gradient_check.h"

#include <gtest/gtest.h>

#include <cmath>

namespace heed {
namespace {

// Of a gradient of f at 1; f is a sum of terms of this size.
template <class F>
GradientVerdict verdict(F&& f, double gradient, double size) {
  double x = 1;
  const double floor = rounding_noise(size) / kGradientTolerance;
  return check_gradient(gradient, floor, [&](double h) {
    return central_difference(
        x, [&] { return f(x); }, h);
  });
}

TEST(CheckGradient, ARightGradientAgreesAndAWrongOneDoesNot) {
  const auto f = [](double x) { return std::sin(3 * x); };
  const double gradient = 3 * std::cos(3.0);
  EXPECT_TRUE(verdict(f, gradient, 1).right);
  for (const double wrong : {0.0, -gradient, 2 * gradient, gradient * (1 + 1e-4), std::nan("")}) {
    EXPECT_TRUE(verdict(f, wrong, 1).wrong) << wrong;
    EXPECT_FALSE(verdict(f, wrong, 1).right) << wrong;
  }
}

// The first step's error is 5e-5 of the gradient, the second's 2e-7.
TEST(CheckGradient, AStepThatIsTooLongIsMadeShorter) {
  const double w = 1000;
  const auto f = [w](double x) { return std::sin(w * x); };
  const GradientVerdict v = verdict(f, w * std::cos(w), 1);
  EXPECT_TRUE(v.right) << v.error;
  EXPECT_TRUE(verdict(f, 1.01 * w * std::cos(w), 1).wrong);
}

TEST(CheckGradient, WhereBothStepsAreTooLongItCannotTell) {
  const double w = 4000;
  const auto f = [w](double x) { return std::sin(w * x); };
  const GradientVerdict v = verdict(f, w * std::cos(w), 1);
  EXPECT_FALSE(v.right);
  EXPECT_FALSE(v.wrong);
}

TEST(CheckGradient, WhereRoundingIsLargerThanExpectedItCannotTell) {
  const auto f = [](double x) { return (3e7 + 1e-3 * std::sin(x)) - 3e7; };  // in steps of 4e-9
  const GradientVerdict v = verdict(f, 1e-3 * std::cos(1.0), 1);
  EXPECT_FALSE(v.right);
  EXPECT_FALSE(v.wrong);
}

TEST(CheckGradient, ALossBelowZeroRoundsAsOneAboveIt) {
  EXPECT_EQ(rounding_noise(-2.5), rounding_noise(2.5));
  EXPECT_GT(rounding_noise(-2.5), 0);
}

}  // namespace
}  // namespace heed
