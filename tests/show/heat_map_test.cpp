#include "show/heat_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "text/utf8.h"

namespace heed {
namespace {

TEST(HeatMap, ShadesGrowWithTheWeight) {
  const float weights[] = {0.0f, 0.55f, 1.0f, 0.25f};
  const std::vector<std::string> queries = {"x", "y"}, keys = {"a", "b"};
  EXPECT_EQ(draw_heat_map({weights, 2, 2}, queries, keys, {}),
            "  a b \n"
            "x   + \n"
            "y @ : \n");
}

TEST(HeatMap, SpacesOfTokensAreSeen) {
  const float weight[] = {1.0f};
  const std::vector<std::string> query = {"a b"}, key = {" "};
  EXPECT_EQ(draw_heat_map({weight, 1, 1}, query, key, {}),
            "    \xE2\x96\x81 \n"
            "a\xE2\x96\x81"
            "b @ \n");
}

TEST(HeatMap, FitsTheWidthWhateverTheTokens) {
  constexpr int kKeys = 40;
  const std::vector<float> weights(2 * kKeys, 0.5f);
  const std::vector<std::string> queries = {"extraordinarily", "漢字漢字漢字漢字"};
  const std::vector<std::string> keys(kKeys, "antidisestablishmentarianism");
  std::istringstream lines(draw_heat_map({weights.data(), 2, kKeys}, queries, keys, {}));
  std::string line;
  int cells = 0;
  while (std::getline(lines, line)) {
    int columns = 0;  // continuation bytes take none
    for (std::size_t i = 0; i < line.size(); i += code_point_at(line, i).length)
      columns += code_point_at(line, i).value >= 0x4E00 ? 2 : 1;
    EXPECT_LE(columns, 80);
    cells += line.find("++++") != std::string::npos;
  }
  EXPECT_EQ(cells, 2 * 4);  // 13 keys of 5 columns in a block
  const std::string wide =
      draw_heat_map({weights.data(), 2, kKeys}, queries, keys, {.columns = 10 + 1 + kKeys * 7});
  EXPECT_EQ(std::ranges::count(wide, '\n'), 3);  // one block
  EXPECT_NE(wide.find("antid…"), std::string::npos) << wide;
}

TEST(HeatMap, ColoursCarryPercentages) {
  const float weights[] = {0.97f};
  const std::vector<std::string> tokens = {"abcd"};
  EXPECT_THAT(draw_heat_map({weights, 1, 1}, tokens, tokens, {.colour = true}),
              testing::HasSubstr("\x1b[48;5;226;38;5;16m   97\x1b[0m"));
}

TEST(HeatMap, LongTokensAreCutToTheirColumns) {
  const float weights[] = {1.0f};
  const std::vector<std::string> queries = {"abcdefghijkl"}, keys = {"漢字漢字漢字"};
  EXPECT_EQ(draw_heat_map({weights, 1, 1}, queries, keys, {}),
            "           漢字漢字漢… \n"
            "abcdefghi… @@@@@@@@@@@ \n");
}

}  // namespace
}  // namespace heed
