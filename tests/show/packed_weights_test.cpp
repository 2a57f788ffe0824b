#include "show/film.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heed {
namespace {

TEST(PackedWeights, AreSquaresOfBytes) {
  AttentionMaps maps;
  AttentionMap& map = maps[static_cast<std::size_t>(AttentionKind::decoder_self)];
  map = {1, 1, 2, 2, {1, 0, 0.00025f, 0.75f}, {1, 1}};
  EXPECT_THAT(packed_weights(maps), testing::ElementsAre("/wAE3Q=="));  // 255, 0, 4, 221
}

}  // namespace
}  // namespace heed
