#include "train/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "train/splits.h"

namespace heed {
namespace {

TEST(Memory, CountsEveryCopyOfTheParameters) {
  const auto parameters = [](const std::vector<std::string>& sets) {
    const RunConfig c = text_config(sets);
    const Transformer model(c.model, 100, 100);
    return predict_memory(model, c, 1, 10, 0).parameters /
           (4.0 * static_cast<double>(model.table.size()));
  };
  EXPECT_DOUBLE_EQ(parameters({"train.shards=4"}), 1 + 2 + 4);
  EXPECT_DOUBLE_EQ(parameters({"train.shards=1", "train.ema_decay=0.9"}), 1 + 2 + 1 + 1);
  EXPECT_DOUBLE_EQ(parameters({"train.shards=2", "optimizer.type=sgd"}), 1 + 2);
}

TEST(Memory, GrowsWithLengthsThreadsAndData) {
  const RunConfig c = text_config({});
  const Transformer model(c.model, 100, 100);
  const auto total = [&](int threads, int longest, double ids) {
    return predict_memory(model, c, threads, longest, ids).total();
  };
  EXPECT_GT(total(2, 100, 0), total(1, 100, 0));
  EXPECT_GT(total(1, 50000, 0), 10 * total(1, 500, 0));
  EXPECT_EQ(total(1, 100, 1e9) - total(1, 100, 0), 1e9);
  EXPECT_EQ(total(64, 100, 0), total(4, 100, 0));  // no more than shards at a time
}

TEST(Memory, APlanThatDoesNotFitIsAnError) {
  EXPECT_GT(available_memory(), 1e6);
  EXPECT_LT(available_memory(), 1e15);
  check_memory({.parameters = 1e6});
  try {
    check_memory({.parameters = 1e15, .activations = 5e9});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.exit(), Exit::memory);
    EXPECT_THAT(e.what(), testing::HasSubstr("available"));
  }
}

}  // namespace
}  // namespace heed
