#include "step/gradients.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace heed {
namespace {

// A sum that shows its own order.
struct Shown {
  std::string text;
  Shown& operator+=(const Shown& o) {
    text = "(" + text + o.text + ")";
    return *this;
  }
};

std::string order(int n) {
  std::vector<Shown> x;
  for (int i = 0; i < n; ++i) x.push_back({std::string(1, static_cast<char>('a' + i))});
  return tree_sum(x).text;
}

TEST(TreeSum, AddsNeighboursThenPairsThenFours) {
  EXPECT_EQ(order(1), "a");
  EXPECT_EQ(order(2), "(ab)");
  EXPECT_EQ(order(3), "((ab)c)");
  EXPECT_EQ(order(4), "((ab)(cd))");
  EXPECT_EQ(order(6), "(((ab)(cd))(ef))");
  EXPECT_EQ(order(7), "(((ab)(cd))((ef)g))");
}

// Tensors of 300 x 131 numbers are longer than a block.
TEST(WeightBlocks, BeginAnewAtEveryTensor) {
  ParamTable table;
  table.add_vector("short", 9, Initializer::ones);
  table.add_matrix("long", 300, 131, {});
  table.add_vector("last", 1, Initializer::ones);
  std::vector<std::size_t> begins;
  for (const WeightBlock& b : weight_blocks(table)) {
    begins.push_back(b.begin);
    const Param& p = b.tensor->param;
    EXPECT_EQ(b.end, std::min(b.begin + 32768, p.offset + p.size()));
  }
  EXPECT_EQ(begins, (std::vector<std::size_t>{0, 9, 9 + 32768, 9 + 39300}));
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
