#include "data/split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

namespace heed {
namespace {

TEST(Ids, TakeTwoBytesWhereTheVocabularyAllows) {
  for (const auto& [vocab, bytes, largest] :
       {std::tuple{65536, 2, 65535}, std::tuple{65537, 4, 65536}, std::tuple{1000000, 4, 999999}}) {
    Ids ids(vocab);
    ids.push_back(0);
    ids.push_back(largest);
    ids.push_back(7);
    EXPECT_EQ(ids.bytes_per_id(), bytes);
    std::vector<int> out;
    ids.copy(0, 3, out);
    EXPECT_THAT(out, testing::ElementsAre(0, largest, 7));
    ids.truncate(2);
    EXPECT_EQ(ids.size(), 2u);
    EXPECT_EQ(ids[1], largest);
  }
}

}  // namespace
}  // namespace heed
