// The gradient of a step, and the sums it consists of.
#include "step/gradients.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "data/batcher.h"
#include "data/splits.h"

namespace heed {
namespace {

// A step of five shards, and the same shards in arrays of their own.
class ShardSums : public testing::Test {
 protected:
  ShardSums() {
    Batcher(*make_objective(config_), split_, config_).fill(1, {}, batch_);
    initialize(model_.table, 3, values_);
  }
  // Shards [first, first + n) of the step, summed.
  std::vector<float> sum_of(int first, int n) {
    StepBatch part = batch_;
    part.shards = {batch_.shards.begin() + first, batch_.shards.begin() + first + n};
    part.used = {batch_.used.begin() + first, batch_.used.begin() + first + n};
    Gradients gradients(model_, n, pool_);
    loss_ = gradients.run(values_, part, 0.1).loss;
    norm_ = gradients.reduce();
    return {gradients.sum().data(), gradients.sum().data() + values_.size()};
  }

  RunConfig config_ =
      causal_config({"train.shards=5", "train.batch_tokens=200", "objective.target_length=16",
                     "model.d_model=16", "model.d_ff=24", "model.n_heads=2"});
  Split split_ = counting_text(300);
  Transformer model_{config_.model, 310, 310};
  ParamVec<float> values_{model_.table.size()};
  StepBatch batch_;
  Pool pool_{1};
  LossSums loss_;
  double norm_ = 0;
};

TEST_F(ShardSums, AnAlignedGroupOfShardsIsASubtree) {
  const std::vector<float> four = sum_of(0, 4);
  const double four_loss = loss_.objective;
  const std::vector<float> fifth = sum_of(4, 1);
  const double fifth_loss = loss_.objective;
  const std::vector<float> all = sum_of(0, 5);
  for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], four[i] + fifth[i]) << i;
  EXPECT_EQ(loss_.objective, four_loss + fifth_loss);

  const std::vector<float> left = sum_of(0, 2), right = sum_of(2, 2);
  for (std::size_t i = 0; i < four.size(); ++i) ASSERT_EQ(four[i], left[i] + right[i]) << i;
}

TEST_F(ShardSums, TheNormIsThatOfTheSum) {
  const std::vector<float> all = sum_of(0, 5);
  const double squares = std::inner_product(all.begin(), all.end(), all.begin(), 0.0);
  EXPECT_NEAR(norm_, std::sqrt(squares), 1e-6 * norm_);
}

// The squares of a block are a part. One of them is 4, the others are each a quarter of the last
// place of 4: one after the other they would be lost, in the tree three places are left.
TEST(TreeSum, TheNormIsATreeOverBlocksWhateverTheThreads) {
  ModelConfig config;
  config.encoder_layers = 0;
  config.decoder_layers = 1;
  config.d_model = 64;
  config.n_heads = 1;
  config.d_ff = 2000;
  config.bias = false;
  const Transformer model(config, 10, 10);
  const std::vector<WeightBlock> blocks = weight_blocks(model.table);
  ASSERT_EQ(blocks.size(), 16);
  for (const int threads : {1, 2, 3}) {
    Pool pool(threads);
    Gradients gradients(model, 1, pool);
    for (const WeightBlock& b : blocks)
      gradients.sum().data()[b.begin] = b.begin == 0 ? 2.0F : std::ldexp(1.0F, -26);
    EXPECT_EQ(gradients.reduce(), std::sqrt(4 + 3 * std::ldexp(1.0, -50)));
  }
}

}  // namespace
}  // namespace heed
