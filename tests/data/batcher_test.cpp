#include "data/batcher.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "data/splits.h"

namespace heed {
namespace {

RunConfig batch_config(int batch_tokens, int shards, int micro, const char* dropout = "0.1") {
  return pairs_config({key_is("train.batch_tokens", batch_tokens), key_is("train.shards", shards),
                       key_is("train.micro_batch_tokens", micro),
                       std::string("model.dropout=") + dropout});
}

// One sequence of a batch, with what its dropout draws depend on.
struct Seen {
  std::vector<int> source, target;
  std::uint64_t source_key = 0, target_key = 0;
  bool operator==(const Seen&) const = default;
};

std::vector<int> ids_of(const Packed& rows, int i) {
  return {rows.ids.begin() + rows.begin[i], rows.ids.begin() + rows.begin[i + 1]};
}

std::vector<Seen> sequences(const StepBatch& batch) {
  std::vector<Seen> all;
  for (std::size_t s = 0; s < batch.shards.size(); ++s)
    for (int m = 0; m < batch.used[s]; ++m) {
      const Batch& b = batch.shards[s][m];
      for (int i = 0; i < b.source.sequences(); ++i) {
        Seen seen{ids_of(b.source, i), ids_of(b.target, i)};
        if (!b.source.row_keys.empty()) {
          seen.source_key = b.source.row_keys[b.source.begin[i]];
          seen.target_key = b.target.row_keys[b.target.begin[i]];
        }
        all.push_back(seen);
      }
    }
  return all;
}

std::int64_t tokens(const Batch& b) {
  return b.source.count() + b.target.count();
}

TEST(Batcher, AnEpochTakesEveryExampleOnceAndFillsSteps) {
  const Split pairs = numbered_pairs(300);
  for (int batch_tokens : {1, 15, 64, 200, 100000}) {
    const RunConfig c = batch_config(batch_tokens, 4, 50);
    const Examples examples(pairs, c);
    Batcher batcher(*examples.objective, pairs, c);
    std::vector<int> taken;
    StepBatch batch;
    Cursor cursor{2, 0};
    std::int64_t step = 0;
    while (cursor.epoch == 2) {
      const Cursor after = batcher.fill(++step, cursor, batch);
      std::int64_t sum = 0, labels = 0;
      for (const Seen& s : sequences(batch)) {
        taken.push_back(s.source.front());
        sum += static_cast<std::int64_t>(s.source.size() + s.target.size());
        labels += static_cast<std::int64_t>(s.target.size());
      }
      EXPECT_EQ(batch.tokens, sum);
      EXPECT_EQ(batch.labels, labels);
      const std::size_t n = sequences(batch).size();
      EXPECT_GE(n, 1u);
      EXPECT_TRUE(n == 1 || sum <= batch_tokens);
      if (after.epoch == 2) {  // the next one would not have fitted
        EXPECT_EQ(after.index, static_cast<std::int64_t>(taken.size()));
        EXPECT_GT(sum + example(examples, 2, after.index).tokens(), batch_tokens);
      } else {
        EXPECT_EQ(after, (Cursor{3, 0}));
      }
      cursor = after;
    }
    std::sort(taken.begin(), taken.end());
    ASSERT_EQ(taken.size(), 300u);
    for (int i = 0; i < 300; ++i) EXPECT_EQ(taken[i], 100 + i);
  }
}

TEST(Batcher, ShardsAreBalancedAndMicroBatchesLimited) {
  const Split pairs = numbered_pairs(500);
  const RunConfig c = batch_config(1000, 4, 60);
  const Examples examples(pairs, c);
  Batcher batcher(*examples.objective, pairs, c);
  StepBatch batch;
  for (Cursor cursor; cursor.epoch == 0;) {
    cursor = batcher.fill(1, cursor, batch);
    ASSERT_EQ(batch.shards.size(), 4u);
    for (int s = 0; s < 4; ++s) {
      std::int64_t sum = 0;
      for (int m = 0; m < batch.used[s]; ++m) {
        const Batch& b = batch.shards[s][m];
        EXPECT_GE(b.source.sequences(), 1);
        EXPECT_EQ(b.source.sequences(), b.target.sequences());
        EXPECT_EQ(b.labels.size(), b.target.ids.size());
        EXPECT_TRUE(b.source.sequences() == 1 || tokens(b) <= 60) << tokens(b);
        sum += tokens(b);
      }
      EXPECT_NEAR(sum, batch.tokens / 4.0, 20.5);  // the longest example has 20 tokens
    }
  }
}

// Dropout draws must not depend on a sequence's place in the batch.
TEST(Batcher, DropoutKeysDependOnStepAndPlaceInTheStepAlone) {
  const Split pairs = numbered_pairs(200);
  const auto fill = [&](std::int64_t step, int shards, int micro, const char* dropout) {
    const RunConfig c = batch_config(300, shards, micro, dropout);
    const Examples examples(pairs, c);
    StepBatch batch;
    Batcher(*examples.objective, pairs, c).fill(step, {1, 20}, batch);
    return sequences(batch);
  };
  const std::vector<Seen> once = fill(7, 4, 0, "0.1");
  EXPECT_EQ(fill(7, 1, 20, "0.1"), once);
  EXPECT_EQ(fill(7, 9, 1, "0.5"), once);
  const std::vector<Seen> later = fill(8, 4, 0, "0.1");
  std::vector<std::uint64_t> keys;
  for (const auto& all : {once, later})
    for (const Seen& s : all) {
      keys.push_back(s.source_key);
      keys.push_back(s.target_key);
    }
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(std::adjacent_find(keys.begin(), keys.end()), keys.end());
  EXPECT_NE(keys.front(), 0u);
  for (const Seen& s : fill(7, 4, 0, "0")) EXPECT_EQ(s.source_key, 0u);
}

}  // namespace
}  // namespace heed
