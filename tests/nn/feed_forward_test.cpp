// Dropout of activations, which has its own rate.
#include <gtest/gtest.h>

#include "nn/layers.h"

namespace heed {
namespace {

using namespace test;

TEST(ActivationDropout, HasItsOwnRate) {
  for (const bool gated : {false, true}) {
    Workspace workspace;
    const auto y = [&](double dropout, double rate) {
      const auto change = [&](ModelConfig& c) {
        c.dropout = dropout;  // of the residual branch, not of this layer
        c.activation_dropout = rate;
        if (gated) c.feed_forward = FeedForwardType::gated;
      };
      const auto layer = feed_forward_row("", Activation::relu, change).make();
      const Sequences rows{.numbers = {0}, .lengths = {50}, .memory_lengths = {1}, .dropout = true};
      const Numbers numbers{layer_values(layer->table, 1), rows.numbers_for(kWidth, Sequences::kX),
                            rows.numbers_for(kWidth, Sequences::kMemory)};
      return run_layer<double>(workspace, *layer, rows, numbers, false).y;
    };
    EXPECT_EQ(y(0.5, 0.75), y(0.75, 0.75));
    EXPECT_EQ(y(0.5, 0), y(0, 0));
    EXPECT_NE(y(0.5, 0), y(0.5, 0.75));
  }
}

}  // namespace
}  // namespace heed
