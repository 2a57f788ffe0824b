#include "step/schedule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

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

TEST(Schedule, RatesAreThePapers) {
  const auto with = [](const char* type, std::int64_t warmup, std::int64_t decay = 110) {
    OptimizerConfig c = schedule(type);
    c.warmup_steps = warmup;
    c.decay_steps = decay;
    return c;
  };
  OptimizerConfig all_falling = schedule("wsd");
  all_falling.decay_fraction = 1;
  const struct {
    OptimizerConfig config;
    std::vector<std::pair<std::int64_t, double>> rates;
  } rows[] = {
      {schedule("constant"), {{100000, 0.4}}},
      {schedule("linear"), {{35, 0.4 - 0.3 / 4}, {60, 0.25}, {110, 0.1}, {5000, 0.1}}},
      {schedule("cosine"),
       {{35, 0.1 + 0.3 * 0.5 * (1 + std::sqrt(0.5))}, {60, 0.25}, {110, 0.1}, {5000, 0.1}}},
      {schedule("inverse_sqrt"), {{40, 0.2}, {1000, 0.04}}},
      {with("inverse_sqrt", 0), {{1, 0.4}, {4, 0.2}}},
      // Falls in the last 22 of 110 steps.
      {schedule("wsd"), {{11, 0.4}, {88, 0.4}, {99, 0.25}, {110, 0.1}, {5000, 0.1}}},
      {all_falling, {{55, 0.25}}},
      {schedule("noam"),
       {{1, 0.4 / 8 * std::pow(10, -1.5)},
        {10, 0.4 / 8 / std::sqrt(10.0)},
        {1000, 0.4 / 8 / std::sqrt(1000.0)}}},
      // A run that ends during warm-up falls at once.
      {with("cosine", 10, 5), {{9, 0.36}, {10, 0.1}}},
      {with("cosine", 0, 1), {{1, 0.1}}},
  };
  for (const auto& [config, rates] : rows)
    for (const auto& [step, expected] : rates)
      EXPECT_NEAR(rate(config, step), expected, 1e-15) << config.schedule << " " << step;
  for (const char* type : {"constant", "linear", "cosine", "inverse_sqrt", "wsd"})
    for (const std::int64_t step : {1, 5, 10})
      EXPECT_DOUBLE_EQ(rate(schedule(type), step), 0.04 * static_cast<double>(step)) << type;
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

}  // namespace
}  // namespace heed
