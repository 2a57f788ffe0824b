#include "show/heat_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "text/utf8.h"

namespace heed {
namespace {

using testing::HasSubstr;

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
              HasSubstr("\x1b[48;5;226;38;5;16m   97\x1b[0m"));
}

TEST(HeatMap, LongTokensAreCutToTheirColumns) {
  const float weights[] = {1.0f};
  const std::vector<std::string> queries = {"abcdefghijkl"}, keys = {"漢字漢字漢字"};
  EXPECT_EQ(draw_heat_map({weights, 1, 1}, queries, keys, {}),
            "           漢字漢字漢… \n"
            "abcdefghi… @@@@@@@@@@@ \n");
}

AttentionMap map_of_heads(int heads, int tokens) {
  AttentionMap map{1, heads, tokens, tokens, {}, {}};
  map.weights.assign(static_cast<std::size_t>(heads) * tokens * tokens, 1.0f / tokens);
  return map;
}

InputTokens tokens_of(int n) {
  InputTokens tokens;
  for (int i = 0; i < n; ++i) tokens.source.push_back("t" + std::to_string(i));
  tokens.target = tokens.source;
  return tokens;
}

TEST(AttentionSummary, CrossAttentionIsDrawnBeforeASharperDecoder) {
  AttentionMaps maps;
  for (const AttentionKind kind : kAttentionKinds)
    maps[static_cast<std::size_t>(kind)] = map_of_heads(1, 2);
  maps[static_cast<std::size_t>(AttentionKind::decoder_self)].weights = {1, 0, 0, 1};
  EXPECT_THAT(draw_attention({}, tokens_of(2), maps, {}), HasSubstr("the map of one:\ncross,"));
}

TEST(AttentionSummary, OfALongTextTheLastRowsAreDrawnWithTheirStrongestKeys) {
  AttentionMaps maps;
  AttentionMap& map = maps[static_cast<std::size_t>(AttentionKind::decoder_self)];
  map = map_of_heads(1, 100);
  map.head(0, 0)(99, 3) = 0.5f;
  map.head(0, 0)(20, 70) = 0.9f;  // in a row that is not drawn
  const std::string out = draw_attention({}, tokens_of(100), maps, {});
  EXPECT_THAT(out, HasSubstr("(the last 16 of 100 rows, the 16 strongest of 100 keys)"));
  EXPECT_THAT(out, HasSubstr("\nt84 "));
  EXPECT_THAT(out, Not(HasSubstr("\nt83 ")));
  EXPECT_THAT(out, HasSubstr(" t3 "));
  EXPECT_THAT(out, Not(HasSubstr(" t70 ")));
  EXPECT_LT(std::count(out.begin(), out.end(), '\n'), 50);
}

}  // namespace
}  // namespace heed
