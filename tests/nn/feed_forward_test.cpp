// Dropout of activations, which has its own rate.
#include "nn/feed_forward.h"

#include <gtest/gtest.h>

#include "math/buffer.h"
#include "nn/models.h"

namespace heed {
namespace {

using test::Buffer;

// Columns of h that reach y through fc2 = identity, by their scale 1 / (1 - rate), or 0.
TEST(ActivationDropout, HasItsOwnRate) {
  for (const bool gated : {false, true})
    for (const double rate : {0.0, 0.75}) {
      ModelConfig config = test::tiny_config(test::Family::decoder_only);
      config.d_ff = config.d_model;
      config.activation = Activation::relu;
      config.dropout = 0.5;  // of the residual branch, not of this layer
      config.activation_dropout = rate;
      if (gated) config.feed_forward = FeedForwardType::gated;
      ParamTable table;
      const FeedForward layer(table, "layers.0", config, {});
      ParamVec<double> values(table.size());
      for (int c = 0; c < 8; ++c) {
        values[layer.in.bias](0, c) = 1;
        if (gated) values[layer.in.bias](0, 8 + c) = 1;
        values[layer.fc2.weight](c, c) = 1;
      }
      Packed rows;
      const int ids[50] = {};
      rows.add_sequence(ids, 50, 0, 77);
      const Buffer<double> x(50, 8);
      Workspace workspace;
      Pass<double> pass{.values = values, .workspace = workspace};
      FeedForwardSaved<double> saved;
      const Mat<double> y = layer.forward(pass, x.view(), rows, saved);
      int kept = 0;
      for (int r = 0; r < 50; ++r)
        for (int c = 0; c < 8; ++c) {
          EXPECT_TRUE(y(r, c) == 0 || y(r, c) == 1 / (1 - rate)) << y(r, c);
          kept += y(r, c) != 0;
        }
      EXPECT_NEAR(kept, 400 * (1 - rate), 40);
    }
}

}  // namespace
}  // namespace heed
