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
