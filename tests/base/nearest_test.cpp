#include "base/nearest.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

TEST(Nearest, FindsWhatWasMeantAndNothingElse) {
  const std::vector<std::string> names = {"train", "resume", "evaluate"};
  EXPECT_EQ(nearest("trian", names), "train");
  EXPECT_EQ(nearest("Evaluate", names), "evaluate");
  EXPECT_EQ(nearest("rexxme", names), "resume");
  EXPECT_EQ(nearest("eval", names), "");
  EXPECT_EQ(nearest("", names), "");
  EXPECT_EQ(nearest(std::string(100'000, 'x'), names), "");
}

}  // namespace
}  // namespace heed
