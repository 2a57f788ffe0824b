#include "report/page_maps.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

TEST(PageMaps, WeightsAreTenThousandthsOfSixteenBits) {
  AttentionMaps maps;
  AttentionMap& map = maps[static_cast<std::size_t>(AttentionKind::decoder_self)];
  map = {1, 1, 2, 2, {1, 0, 0.00025f, 0.75f}, {1, 1}};
  // 0x2710, 0, 2 or 3, 0x1d4c
  EXPECT_EQ(packed_weights(maps), ShortJson::array({"ECcAAAMATB0="}));
  const ShortJson page = page_of_maps({{}, {"a", "b"}}, maps);
  EXPECT_EQ(page["kinds"].dump(),
            R"([{"name":"decoder","layers":1,"heads":1,"queries":["a","b"],"keys":["a","b"]}])");
  EXPECT_EQ(packed_size(9), 24u);  // of nine weights: 18 bytes, 24 letters
}

}  // namespace
}  // namespace heed
