#include "train/trainer.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

TEST(Due, EverySoManyStepsOrEpochs) {
  // A step that ends `after` epochs, the one before it having ended `before`.
  const auto step = [](std::int64_t n, std::int64_t before = 0, std::int64_t after = 0) {
    return StepSpan{n, {before, 5}, {after, 0}};
  };
  EXPECT_TRUE(is_due({10}, step(20)));
  EXPECT_FALSE(is_due({10}, step(21)));
  EXPECT_FALSE(is_due({0}, step(20)));
  EXPECT_TRUE(is_due({2, true}, step(7, 3, 4)));
  EXPECT_FALSE(is_due({2, true}, step(7, 4, 5)));
  EXPECT_FALSE(is_due({2, true}, step(8, 4, 4)));
}

}  // namespace
}  // namespace heed
