#include <gtest/gtest.h>

#include "base/cgroup.h"
#include "data/data_folder.h"
#include "train/prepared_run.h"

namespace heed {
namespace {

double parameters(const std::vector<std::string>& sets, int threads = 1) {
  const RunConfig c = text_config(sets);
  return counted_memory(Transformer(c.model, 100, 100), c, threads).parameters;
}

TEST(Memory, CountsEveryCopyOfTheParameters) {
  const double one =
      4.0 * static_cast<double>(Transformer(text_config({}).model, 100, 100).table.size());
  EXPECT_DOUBLE_EQ(parameters({"train.shards=4"}) / one, 1 + 2 + 4);
  EXPECT_DOUBLE_EQ(parameters({"train.shards=1", "train.ema_decay=0.9"}) / one, 1 + 2 + 1 + 1);
  EXPECT_DOUBLE_EQ(parameters({"train.shards=2", "optimizer.type=sgd"}) / one, 1 + 2);
}

TEST(Memory, KnowsWhatMuonNeedsForItsLargestMatrix) {
  const auto of = [](const char* type, int threads) {
    return parameters({"model.d_model=8", "model.d_ff=16", type}, threads);
  };
  const double one = of("optimizer.type=muon", 1) - of("optimizer.type=adamw", 1);
  EXPECT_EQ(one, 4 * 2 * 8 * (8 + 16));
  EXPECT_EQ(of("optimizer.type=muon", 3) - of("optimizer.type=adamw", 3), 3 * one);
}

TEST(Memory, CountsWhatTheFilmKeeps) {
  const RunConfig c = text_config({});
  const Transformer model(c.model, 100, 100);
  EXPECT_GE(counted_memory(model, c, 1).record, 8.0 * static_cast<double>(model.table.size()));
}

class MeasuredMemory : public DataFolder {
 protected:
  MemoryPlan memory(const RunConfig& c, int threads = 1) {
    return prepare_run(c, folder_, {}, threads).memory;
  }
};

TEST_F(MeasuredMemory, GrowsWithLengthsThreadsAndData) {
  std::string text;
  for (int i = 0; i < 40'000; ++i) text += "abc\n"[i % 4];
  file("a.txt", text);
  const std::string wide = "model.d_ff=1024";
  const MemoryPlan plan = memory(text_config({wide}));
  EXPECT_EQ(plan.data, 2 * 40'000);
  EXPECT_EQ(memory(text_config({wide}), 3).activations, 3 * plan.activations);
  EXPECT_EQ(memory(text_config({wide}), 6).activations, 4 * plan.activations);  // shards
  EXPECT_EQ(memory(text_config({wide}), 6).scoring, 6 * plan.scoring);
  EXPECT_GT(memory(text_config({wide, "objective.source_length=1500"})).activations,
            4 * plan.activations);
  EXPECT_GT(memory(text_config({wide, "model.feed_forward=gated"})).activations, plan.activations);
}

TEST_F(MeasuredMemory, IsThatOfTheLongestPairs) {
  std::string pairs = "a\tb\n";
  for (int i = 0; i < 10; ++i) pairs += pairs;
  const std::string held_out = std::string(900, 'a') + "\t" + std::string(900, 'b') + "\n";
  file("a.tsv", pairs);
  const RunConfig c = pairs_config({"data.max_length=4000"});
  const MemoryPlan plan = memory(c);
  file("a.tsv", held_out + pairs);
  EXPECT_GT(memory(c).activations, 4 * plan.activations);
  file("a.tsv", pairs + held_out);
  EXPECT_EQ(memory(c).activations, plan.activations);
  EXPECT_GT(memory(c).scoring, 4 * plan.scoring);
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
  check_memory({.parameters = 1e6, .yardsticks = 1e15}, 1e8);  // then there are none
  expect_error([] { check_memory({.parameters = 1e15}, 1e9); }, Exit::memory,
               {"909 TiB", "954 MiB", "tokenizer.vocab_size"});
  expect_error([] { check_memory({.scoring = INFINITY}, 1e9); }, Exit::memory, {"954 MiB"});
}

}  // namespace
}  // namespace heed
