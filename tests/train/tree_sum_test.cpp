#include "train/tree_sum.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "train/gradients.h"

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

// The squares of a block of 2^15 numbers are a part. One of them is 4, the others are each a
// quarter of the last place of 4: one after the other they would be lost, in the tree three places
// are left.
TEST(TreeSum, TheNormIsATreeOverBlocksWhateverTheThreads) {
  constexpr std::size_t kBlock = 1 << 15, kBlocks = 16;
  ModelConfig config;
  config.encoder_layers = 0;
  config.decoder_layers = 1;
  config.d_model = 64;
  config.n_heads = 1;
  config.d_ff = 3750;
  const Transformer model(config, 10, 10);
  ASSERT_GT(model.table.size(), (kBlocks - 1) * kBlock);
  ASSERT_LE(model.table.size(), kBlocks * kBlock);
  for (const int threads : {1, 2, 3}) {
    Pool pool(threads);
    Gradients gradients(model, 1, pool);
    for (std::size_t i = 0; i < kBlocks; ++i)
      gradients.sum().data()[i * kBlock] = i == 0 ? 2.0F : std::ldexp(1.0F, -26);
    EXPECT_EQ(gradients.reduce(), std::sqrt(4 + 3 * std::ldexp(1.0, -50)));
  }
}

}  // namespace
}  // namespace heed
