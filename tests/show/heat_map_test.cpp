#include "show/heat_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "base/utf8.h"

namespace heed {
namespace {

using testing::HasSubstr;

TEST(HeatMap, IsDrawnSo) {
  using Words = std::vector<std::string>;
  const Words pronoun = {"he"}, names = {"Belino", ",", "Belilus"};
  const struct {
    std::vector<float> weights;
    Words queries, keys;
    int columns;
    const char* drawn;
  } maps[] = {
      {{0, 0.55f, 1, 0.25f}, {"x", "y"}, {"a", "b"}, 80, "  a b \nx   + \ny @ : \n"},
      {{1}, {"a b"}, {" "}, 80, "    \u2581 \na\u2581b @ \n"},
      // Columns are as wide as their words where there is room.
      {{0, 1, 0}, pronoun, names, 80, "   Belino ,  Belilus \nhe        @@         \n"},
      {{0, 1, 0},
       pronoun,
       names,
       20,
       "columns:  0\u00a0Belino\n  1\u00a0,  2\u00a0Belilus\n    0  1  2 \nhe    @@    \n"},
      // Long tokens are cut.
      {{1}, {"abcdefghijkl"}, {"漢字漢字漢字"}, 24, "       漢字漢字漢… \nabcde… @@@@@@@@@@@ \n"},
  };
  for (const auto& [weights, queries, keys, columns, drawn] : maps)
    EXPECT_EQ(draw_heat_map({weights.data(), int(queries.size()), int(keys.size())}, queries, keys,
                            {.columns = columns}),
              drawn);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(HeatMap, FitsTheWidthWhateverTheTokens) {
  constexpr int kKeys = 40;
  const std::vector<float> weights(2 * kKeys, 0.5f);
  const std::vector<std::string> queries = {"extraordinarily", "漢字漢字漢字漢字"};
  for (const std::string key : {"antidisestablishmentarianism", "x", "漢字", " "})
    for (const int width : {60, 80, 120, 200}) {
      const std::vector<std::string> keys(kKeys, key);
      const std::string map =
          draw_heat_map({weights.data(), 2, kKeys}, queries, keys, {.columns = width});
      int cells = 0;
      for (const std::string& line : lines_of(map)) {
        EXPECT_LE(columns_of(line), width) << line;
        cells += line.starts_with("extra") || line.starts_with("漢字漢字");
      }
      const int room = width - std::min(16, width / 4) - 1,
                in_block = room / (key.size() > 2 ? 3 : 2);
      EXPECT_EQ(cells, 2 * ((kKeys + in_block - 1) / in_block)) << map;
    }
}

TEST(HeatMap, ColoursCarryPercentages) {
  const float weights[] = {0.97f};
  const std::vector<std::string> tokens = {"abcd"};
  EXPECT_THAT(draw_heat_map({weights, 1, 1}, tokens, tokens, {.colour = true}),
              HasSubstr("\x1b[48;5;226;38;5;16m   97\x1b[0m"));
}

AttentionMap map_of_heads(AttentionKind kind, int heads, int tokens) {
  AttentionMap map{kind, 1, heads, tokens, tokens, {}, {}};
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
    maps[static_cast<std::size_t>(kind)] = map_of_heads(kind, 1, 2);
  maps[static_cast<std::size_t>(AttentionKind::decoder_self)].weights = {1, 0, 0, 1};
  EXPECT_THAT(draw_attention({}, tokens_of(2), maps, {}), HasSubstr("the map of one:\ncross,"));
}

TEST(AttentionSummary, OfALongTextTheLastRowsAreDrawnWithTheirStrongestKeys) {
  AttentionMaps maps;
  AttentionMap& map = maps[static_cast<std::size_t>(AttentionKind::decoder_self)];
  map = map_of_heads(AttentionKind::decoder_self, 1, 100);
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
