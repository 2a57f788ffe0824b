#include "train/trainer.h"

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

}  // namespace
}  // namespace heed
