#include "train/intervals.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

StepSpan step(std::int64_t n) {
  return {n, {}, {}};
}
// A step that ends `after` epochs, the one before it having ended `before`.
StepSpan epoch(std::int64_t n, std::int64_t before, std::int64_t after) {
  return {n, {before, 5}, {after, 0}};
}

TEST(Due, EverySoManySteps) {
  EXPECT_TRUE(is_due({10}, step(20)));
  EXPECT_FALSE(is_due({10}, step(21)));
  EXPECT_FALSE(is_due({0}, step(20)));
}

TEST(Due, EverySoManyEpochs) {
  EXPECT_TRUE(is_due({2, true}, epoch(7, 3, 4)));
  EXPECT_FALSE(is_due({2, true}, epoch(7, 4, 5)));
  EXPECT_FALSE(is_due({2, true}, epoch(8, 4, 4)));
}

TEST(Due, RecordsAreLinesAtLeastTenStepsApart) {
  TrainConfig c;
  c.max_steps = 1000;
  c.log_every = {4};
  for (const auto& [n, recorded] : {std::pair{4, false},
                                    {8, false},
                                    {12, true},
                                    {16, false},
                                    {24, true},
                                    {13, false},
                                    {1000, true}})
    EXPECT_EQ(records_learning(c, step(n)), recorded) << n;
  c.log_every = {50};
  EXPECT_TRUE(records_learning(c, step(50)));
  c.log_every = {0};
  EXPECT_FALSE(records_learning(c, step(50)));
}

TEST(Due, RecordsByEpochsGoByTheirLength) {
  TrainConfig c;
  c.max_steps = 0;
  c.max_epochs = 9;
  c.log_every = {1, true};
  // Epochs of 3 steps: every fourth is at least ten steps from the last.
  EXPECT_FALSE(records_learning(c, epoch(6, 1, 2)));
  EXPECT_TRUE(records_learning(c, epoch(12, 3, 4)));
  EXPECT_TRUE(records_learning(c, epoch(27, 8, 9)));  // the end
  EXPECT_FALSE(records_learning(c, epoch(2, 0, 0)));
}

}  // namespace
}  // namespace heed
