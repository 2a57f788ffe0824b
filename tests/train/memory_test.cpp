#include "train/prepared_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/cgroup.h"
#include "base/error_of.h"
#include "data/splits.h"
#include "show/learning_record.h"

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

TEST(Memory, KnowsWhatMuonNeedsForItsLargestMatrix) {
  const auto parameters = [](const char* type, int threads) {
    const RunConfig c = text_config({"model.d_model=8", "model.d_ff=16", type});
    return predict_memory(Transformer(c.model, 100, 100), c, threads, 10, 0).parameters;
  };
  const double one = parameters("optimizer.type=muon", 1) - parameters("optimizer.type=adamw", 1);
  EXPECT_EQ(one, 4 * 2 * 8 * (8 + 16));
  EXPECT_EQ(parameters("optimizer.type=muon", 3) - parameters("optimizer.type=adamw", 3), 3 * one);
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
  const auto activations = [&](int threads) {
    return predict_memory(model, c, threads, 100, 0).activations;
  };
  EXPECT_EQ(activations(64), activations(4));      // no more than shards at a time
  EXPECT_GT(total(64, 100, 0), total(4, 100, 0));  // but all of them validate
}

TEST(Memory, KnowsTheBlocks) {
  const auto activations = [](const std::string& set) {
    const RunConfig c = text_config({set});
    return predict_memory(Transformer(c.model, 100, 100), c, 1, 10, 0).activations;
  };
  const double plain = activations("model.feed_forward=plain");
  EXPECT_GT(activations("model.feed_forward=gated"), plain);
  EXPECT_LT(activations("model.feed_forward=none"), plain);
  EXPECT_LT(activations("model.n_kv_heads=1"), plain);
  EXPECT_GT(activations("model.qk_norm=true"), plain);
}

TEST(Memory, CountsWhatTheFilmKeeps) {
  const RunConfig c = text_config({});
  const Transformer model(c.model, 100, 100), large(c.model, 100000, 100000);
  const auto record = [&](const Transformer& m) { return predict_memory(m, c, 1, 10, 0).record; };
  const auto size = [](std::size_t n) { return static_cast<double>(n); };
  EXPECT_EQ(record(model),
            4 * (std::max(2 * size(recorded_size(model.table)), size(model.table.size())) +
                 size(model.table.size())));
  EXPECT_EQ(record(large), 4 * (2 * size(recorded_size(large.table)) + size(large.table.size())));
  EXPECT_GT(predict_memory(model, c, 1, 10, 0).total(), record(model) + MemoryPlan::base);
}

TEST(Memory, YardsticksAreMeasuredBeforeTrainingTakesIts) {
  const MemoryPlan plan{.parameters = 5e6, .activations = 9e6};
  MemoryPlan with = plan;
  with.yardsticks = 8e6;
  EXPECT_EQ(with.total(), plan.total());
  with.yardsticks = 10e6;
  EXPECT_EQ(with.total(), plan.total() + 1e6);
}

TEST(Memory, APlanThatDoesNotFitIsAnError) {
  EXPECT_GT(available_memory(), 1e6);
  EXPECT_LT(available_memory(), 1e15);
  check_memory({.parameters = 1e6});
  check_memory({.parameters = 1e6, .yardsticks = 1e15});  // then there are none
  try {
    check_memory({.parameters = 1e15, .activations = 5e9});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.exit(), Exit::memory);
    expect_facts(e.what(), {"909 TiB"});
    expect_facts(e.what(), {"tokenizer.vocab_size"});
  }
}

}  // namespace
}  // namespace heed
