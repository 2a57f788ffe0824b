#include "step/schedule.h"

#include <gtest/gtest.h>

#include <cmath>

namespace heed {
namespace {

OptimizerConfig schedule(const std::string& type) {
  OptimizerConfig c;
  c.schedule = type;
  c.learning_rate = 0.4;
  c.min_learning_rate = 0.1;
  c.warmup_steps = 10;
  c.decay_steps = 110;
  return c;
}

double rate(const OptimizerConfig& c, std::int64_t step) {
  return learning_rate(c, 64, step);
}

TEST(Schedule, AllButNoamRiseInAStraightLine) {
  for (const char* type : {"constant", "linear", "cosine", "inverse_sqrt", "wsd"}) {
    const OptimizerConfig c = schedule(type);
    EXPECT_DOUBLE_EQ(rate(c, 1), 0.04);
    EXPECT_DOUBLE_EQ(rate(c, 5), 0.2);
    EXPECT_DOUBLE_EQ(rate(c, 10), 0.4);
  }
}

TEST(Schedule, ConstantStays) {
  EXPECT_DOUBLE_EQ(rate(schedule("constant"), 100000), 0.4);
}

TEST(Schedule, LinearFallsToTheMinimumAtDecaySteps) {
  const OptimizerConfig c = schedule("linear");
  EXPECT_DOUBLE_EQ(rate(c, 35), 0.4 - 0.3 / 4);
  EXPECT_DOUBLE_EQ(rate(c, 60), 0.25);
  EXPECT_DOUBLE_EQ(rate(c, 110), 0.1);
  EXPECT_DOUBLE_EQ(rate(c, 5000), 0.1);
}

TEST(Schedule, CosineFallsToTheMinimumAtDecaySteps) {
  const OptimizerConfig c = schedule("cosine");
  EXPECT_NEAR(rate(c, 35), 0.1 + 0.3 * 0.5 * (1 + std::sqrt(0.5)), 1e-15);
  EXPECT_NEAR(rate(c, 60), 0.25, 1e-15);
  EXPECT_NEAR(rate(c, 110), 0.1, 1e-15);
  EXPECT_NEAR(rate(c, 5000), 0.1, 1e-15);
}

TEST(Schedule, InverseSqrtHalvesInFourTimesTheSteps) {
  OptimizerConfig c = schedule("inverse_sqrt");
  EXPECT_DOUBLE_EQ(rate(c, 40), 0.2);
  EXPECT_DOUBLE_EQ(rate(c, 1000), 0.04);
  c.warmup_steps = 0;
  EXPECT_DOUBLE_EQ(rate(c, 1), 0.4);
  EXPECT_DOUBLE_EQ(rate(c, 4), 0.2);
}

TEST(Schedule, WsdStaysAndThenFallsInAStraightLine) {
  OptimizerConfig c = schedule("wsd");  // falls in the last 22 of 110 steps
  EXPECT_DOUBLE_EQ(rate(c, 11), 0.4);
  EXPECT_DOUBLE_EQ(rate(c, 88), 0.4);
  EXPECT_NEAR(rate(c, 99), 0.25, 1e-15);
  EXPECT_NEAR(rate(c, 110), 0.1, 1e-15);
  EXPECT_NEAR(rate(c, 5000), 0.1, 1e-15);
  c.decay_fraction = 1;
  EXPECT_NEAR(rate(c, 55), 0.25, 1e-15);
}

// So a branch may decay at another time, to another rate.
TEST(Schedule, UntilItFallsTheRateOfWsdDependsOnNothingElseToTheLastBit) {
  OptimizerConfig c = schedule("wsd");
  for (const double lowest : {0.0, 0.1, 0.3, 1e-7}) {
    c.min_learning_rate = lowest;
    for (const std::int64_t end : {110, 97, 1234567}) {
      c.decay_steps = end;
      EXPECT_EQ(rate(c, 60), 0.4);
      EXPECT_EQ(rate(c, fall_of(c).from), 0.4);
      EXPECT_LT(rate(c, fall_of(c).from + 1), 0.4);
    }
  }
}

TEST(Schedule, AWarmUpThatReachesIntoTheDecayOfWsdEndsWhereTheyMeet) {
  OptimizerConfig c = schedule("wsd");  // from 0.4 at step 88 down to 0.1 at step 110
  c.warmup_steps = 105;
  double before = 0;
  for (std::int64_t step = 1; step <= 110; ++step) {
    EXPECT_DOUBLE_EQ(rate(c, step),
                     std::min(0.4 * step / 105, 0.1 + 0.3 * std::min(1.0, (110 - step) / 22.0)));
    EXPECT_LT(std::abs(rate(c, step) - before), 0.0152) << step;  // no jump
    before = rate(c, step);
  }
}

TEST(Schedule, NoamIsThePapers) {
  const OptimizerConfig c = schedule("noam");
  EXPECT_NEAR(rate(c, 1), 0.4 / 8 * std::pow(10, -1.5), 1e-15);
  EXPECT_NEAR(rate(c, 10), 0.4 / 8 / std::sqrt(10.0), 1e-15);
  EXPECT_NEAR(rate(c, 1000), 0.4 / 8 / std::sqrt(1000.0), 1e-15);
}

TEST(Schedule, ARunThatEndsDuringWarmUpFallsAtOnce) {
  OptimizerConfig c = schedule("cosine");
  c.decay_steps = 5;
  EXPECT_DOUBLE_EQ(rate(c, 9), 0.36);
  EXPECT_NEAR(rate(c, 10), 0.1, 1e-15);
  c.warmup_steps = 0;
  c.decay_steps = 1;
  EXPECT_NEAR(rate(c, 1), 0.1, 1e-15);
}

}  // namespace
}  // namespace heed
