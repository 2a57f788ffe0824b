#include "train/prepared_run.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

TEST(Schedule, InWords) {
  OptimizerConfig c;
  c.learning_rate = 0.008;
  c.min_learning_rate = 0;
  c.warmup_steps = 100;
  c.decay_steps = 2000;
  const auto words = [&](const std::string& type, std::int64_t max_steps = 2000) {
    c.schedule = type;
    return schedule_in_words(c, max_steps);
  };
  EXPECT_EQ(words("wsd"),
            "rises over 100 steps to 0.008, stays until step 1600, falls to 0 at step 2000");
  EXPECT_EQ(words("wsd", 1000), "rises over 100 steps to 0.008, stays to the end of the run");
  EXPECT_EQ(words("cosine"), "rises over 100 steps to 0.008, falls (cosine) to 0 at step 2000");
  EXPECT_EQ(words("cosine", 3000),
            "rises over 100 steps to 0.008, falls (cosine) to 0 at step 2000, stays");
  EXPECT_EQ(words("noam"), "rises over 100 steps, falls as 1 / sqrt(step)");
  EXPECT_EQ(words("linear", 20),
            "rises to the end of the run, which is within optimizer.warmup_steps (100)");
  c.warmup_steps = 1900;
  EXPECT_EQ(words("wsd"),
            "rises until its fall to 0 at step 2000 (optimizer.warmup_steps is 1900)");
  EXPECT_EQ(words("wsd", 50),
            "rises to the end of the run, which is within optimizer.warmup_steps (1900)");
  c.warmup_steps = c.decay_steps = 20;
  EXPECT_EQ(words("linear", 200),
            "rises until its fall to 0 at step 20 (optimizer.warmup_steps is 20)");
  EXPECT_EQ(words("noam", 20),
            "rises to the end of the run, which is within optimizer.warmup_steps (20)");
  c.warmup_steps = 0;
  c.decay_fraction = 1;
  EXPECT_EQ(words("wsd", 20), "begins at 0.008, falls to 0 at step 20");
  EXPECT_EQ(words("constant"), "begins at 0.008, stays");
}

}  // namespace
}  // namespace heed
