#include "evaluate/test_text.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

using Places = std::vector<std::size_t>;

std::string line_with(std::size_t bytes) {  // with its end
  return std::string(bytes - 1, 'x') + "\n";
}

TEST(Units, AreLongLinesOrBlocksOfShortOnesAndWhatHasNoLineEndsIsCut) {
  std::string lines = line_with(256) + line_with(300), wide = "xy";
  Places ends = {256, 556}, cuts;
  for (int i = 0; i < 9; ++i) lines += line_with(4096), ends.push_back(lines.size());
  for (int i = 0; i < 400; ++i) wide += "天";
  for (std::size_t i = 1; i <= 18; ++i) cuts.push_back(256 * i);
  cuts.push_back(5010);
  const std::string blocks =
      line_with(100) + line_with(100) + line_with(100) + line_with(255) + line_with(1);
  const std::pair<std::string, Places> texts[] = {
      {lines, ends},
      {blocks, {300, 556}},  // the rest belongs to the last
      {"short", {5}},
      {line_with(10) + std::string(5000, 'x'), cuts},
      {wide, {257, 515, 773, 1202}},  // a character is not cut
      {std::string(1100, '\x80'), {1100}},
      {std::string(1100, 'x'), {256, 512, 768, 1100}},  // else a short text would be one unit
  };
  for (const auto& [text, units] : texts) EXPECT_EQ(unit_ends(text), units) << text.substr(0, 20);
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
