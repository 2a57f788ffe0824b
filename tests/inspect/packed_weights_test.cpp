#include "inspect/packed_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heed {
namespace {

TEST(PackedWeights, AreTenThousandthsOrSquaresOfBytes) {
  AttentionMaps maps;
  AttentionMap& map = maps[static_cast<std::size_t>(AttentionKind::decoder_self)];
  map = {1, 1, 2, 2, {1, 0, 0.00025f, 0.75f}, {1, 1}};
  // 0x2710, 0, 2 or 3, 0x1d4c
  EXPECT_THAT(packed_weights(maps, 16), testing::ElementsAre("ECcAAAMATB0="));
  EXPECT_THAT(packed_weights(maps, 8), testing::ElementsAre("/wAE3Q=="));  // 255, 0, 4, 221
}

}  // namespace
}  // namespace heed
