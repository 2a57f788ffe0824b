#include "evaluate/test_text.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

using Places = std::vector<std::size_t>;

std::string line_with(std::size_t bytes) {  // with its end
  return std::string(bytes - 1, 'x') + "\n";
}

TEST(Units, LongLinesAreUnits) {
  Places ends = {256, 556, 4652};
  std::string text = line_with(256) + line_with(300) + line_with(4096);
  for (int i = 0; i < 8; ++i) text += line_with(4096), ends.push_back(text.size());
  EXPECT_EQ(unit_ends(text), ends);
}

TEST(Units, ShortLinesMakeBlocksAndTheRestBelongsToTheLast) {
  EXPECT_EQ(
      unit_ends(line_with(100) + line_with(100) + line_with(100) + line_with(255) + line_with(1)),
      (Places{300, 556}));
  EXPECT_EQ(unit_ends("short"), (Places{5}));
}

TEST(Units, ATextWithoutLineEndsIsCut) {
  const Places ends = unit_ends(line_with(10) + std::string(5000, 'x'));
  ASSERT_EQ(ends.size(), 19U);
  EXPECT_EQ(ends[0], 256U);
  EXPECT_EQ(ends[17], 18 * 256U);
  EXPECT_EQ(ends[18], 5010U);
}

TEST(Units, ACharacterIsNotCut) {
  std::string text = "xy";
  for (int i = 0; i < 400; ++i) text += "天";
  EXPECT_EQ(unit_ends(text), (Places{257, 515, 773, 1202}));
  EXPECT_EQ(unit_ends(std::string(1100, '\x80')), (Places{1100}));
}

// Else a short text would be one unit.
TEST(Units, ALineThatIsMostOfTheTextIsCut) {
  EXPECT_EQ(unit_ends(std::string(1100, 'x')), (Places{256, 512, 768, 1100}));
}

TEST(Units, ATokenBelongsToTheUnitOfItsFirstByte) {
  const SpeltText text{"", {0, 3, 5, 9, 30}, {5, 10, 20}};
  for (const auto& [token, unit] :
       std::initializer_list<std::pair<int, std::size_t>>{{0, 0}, {1, 0}, {2, 1}, {3, 1}, {4, 2}})
    EXPECT_EQ(text.unit_of(token), unit);
}

// Each brings all its copies, in the order of the first.
TEST(Units, CopiesAreOne) {
  const System rows = {{1, 2}, {10, 20}, {1.5, 2}, {100, 200}, {0.5, 1}};
  EXPECT_EQ(merged(rows, std::vector<std::string>{"a", "b", "a", "c", "a"}),
            (System{{3, 5}, {10, 20}, {100, 200}}));
  EXPECT_EQ(merged(rows, std::vector<int>{5, 4, 3, 2, 1}), rows);
}

}  // namespace
}  // namespace heed
