#include "show/packed_maps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heed {
namespace {

TEST(PackedMaps, AreSquaresOfBytes) {
  AttentionMaps maps;
  AttentionMap& map = maps[static_cast<std::size_t>(AttentionKind::decoder_self)];
  map = {1, 1, 2, 2, {1, 0, 0.00025f, 0.75f}, {1, 1}};
  EXPECT_THAT(packed_weights(maps), testing::ElementsAre("/wAE3Q=="));  // 255, 0, 4, 221
}

TEST(PackedMaps, AreReadBackWithTheTokensOfTheirProbe) {
  AttentionMaps maps;
  InputTokens tokens;
  tokens.source = {"a", "</s>"};
  tokens.target = {"<s>", "b", "c"};
  AttentionMap& decoder = maps[static_cast<std::size_t>(AttentionKind::decoder_self)];
  decoder = {1, 1, 3, 3, {1, 0, 0, 0.5f, 0.5f, 0, 0.2f, 0.3f, 0.5f}, {}};
  AttentionMap& cross = maps[static_cast<std::size_t>(AttentionKind::cross)];
  cross = {1, 2, 3, 2, {1, 0, 0, 1, 0.5f, 0.5f, 0, 1, 1, 0, 0.25f, 0.75f}, {}};
  const ShownMaps read =
      unpacked({0, kinds_of(tokens, maps), {}, {}}, {.weights = packed_weights(maps)});
  EXPECT_EQ(read.tokens.source, tokens.source);
  EXPECT_EQ(read.tokens.target, tokens.target);
  for (const AttentionKind kind : kAttentionKinds) {
    const AttentionMap &was = map_of(maps, kind), &is = map_of(read.maps, kind);
    EXPECT_EQ(is.heads, was.heads);
    EXPECT_THAT(is.weights, testing::Pointwise(testing::FloatNear(4e-3f), was.weights));
  }
}

}  // namespace
}  // namespace heed
