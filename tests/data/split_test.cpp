#include "data/split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tuple>

#include "data/data_folder.h"

namespace heed {
namespace {

using testing::HasSubstr;

const std::string kLong = "a line of more than forty characters, number ";

LineFacts facts(const std::string& text) {
  LineFacts f;
  f.add(text);
  return f;
}

TEST(LineFacts, CountLongLinesThatAreInTheTrainingText) {
  const LineFacts train = facts(kLong + "1\nshort\n" + kLong + "2\n");
  EXPECT_THAT(leaks(train, facts("short\n" + kLong + "2\n" + kLong + "3\n" + kLong + "2\r\n")),
              HasSubstr("2 of 3 held-out lines"));
  EXPECT_EQ(leaks(train, facts("short\n" + kLong + "3\n")), "");
  EXPECT_EQ(common(train, facts("  " + kLong + "1  \r\n\t" + kLong + "2")), 2);
  const std::string wide = "天天天天天天天天天天天天天天\n", almost(39, 'x');  // 42 bytes
  EXPECT_EQ(leaks(facts(wide), facts(wide)), "");
  EXPECT_EQ(leaks(facts(almost + "\n"), facts(almost + "\n")), "");
}

TEST(LineFacts, APairIsKnownIfBothSidesAre) {
  LineFacts train, held_out;
  train.add("a", "x");
  train.add("b", "y");
  held_out.add("a", "y");
  held_out.add("x", "a");
  EXPECT_EQ(leaks(train, held_out), "");
  held_out.add("b ", " y");
  EXPECT_THAT(leaks(train, held_out), HasSubstr("1 of 3 held-out pairs"));
}

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
