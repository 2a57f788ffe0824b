#include "show/head_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heed {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const std::vector<std::string> kTokens{"a", "b", "c", "d", "e", "f", "g", "h"};

// Of a head that gives weight(query, key) to each key that a row sees.
template <class Weight>
std::string said(AttentionKind kind, Weight&& weight, std::vector<std::string> queries = kTokens,
                 std::vector<std::string> keys = kTokens) {
  std::vector<float> weights;
  for (int q = 0; q < std::ssize(queries); ++q)
    for (int k = 0; k < std::ssize(keys); ++k)
      weights.push_back(
          kind == AttentionKind::decoder_self && k > q ? 0.0f : static_cast<float>(weight(q, k)));
  return head_in_words(
             kind,
             {weights.data(), static_cast<int>(queries.size()), static_cast<int>(keys.size())},
             queries, keys)
      .sentence();
}

TEST(HeadInWords, NamesThePatternThatWasPlanted) {
  constexpr auto encoder = AttentionKind::encoder_self, decoder = AttentionKind::decoder_self,
                 cross = AttentionKind::cross;
  EXPECT_EQ(said(decoder, [](int q, int k) { return k == std::max(0, q - 1); }),
            "mostly the previous token in this text (1.00 of the weight in the rows that see it; "
            "evenly spread weights would give 0.25)");
  EXPECT_THAT(said(decoder, [](int q, int k) { return k == q; }), StartsWith("mostly itself "));
  EXPECT_THAT(said(decoder, [](int q, int k) { return k == std::max(0, q - 2); }),
              StartsWith("mostly the token two back "));
  EXPECT_THAT(said(encoder, [](int q, int k) { return k == std::min(7, q + 1); }),
              StartsWith("mostly the next token "));
  EXPECT_THAT(said(encoder, [](int, int k) { return k == 0 ? 0.44 : 0.08; }),
              StartsWith("often the first token, “a” in this text (0.44 "));
  EXPECT_THAT(said(encoder, [](int, int) { return 0.125; }),
              StartsWith("spread widely in this text"));
  EXPECT_THAT(said(encoder, [](int q, int k) { return k == (3 * q + 5) % 8 ? 0.9 : 0.1 / 7; }),
              StartsWith("no simple pattern in this text (the largest weight of a row is 0.90 on"));
  // Two rows are no pattern, nor are two of many.
  for (const std::vector<std::string>& few : {std::vector<std::string>{"a"}, {"a", "b"}})
    EXPECT_EQ(said(
                  encoder, [](int q, int k) { return q == k; }, few, few),
              "too few tokens to see a pattern");
  const std::vector<std::string> four{"<s>", "a", "b", "c"};
  EXPECT_THAT(said(
                  decoder, [](int q, int k) { return k == std::max(0, q - 1); }, four, four),
              StartsWith("mostly the previous token "));
  EXPECT_THAT(said(
                  decoder, [](int, int k) { return k == 0; }, four, four),
              StartsWith("mostly the first token, “<s>” "));
  // What a row of cross-attention is about to write is the next token of the target, wherever the
  // source has it.
  const std::vector<std::string> target{"<s>", "h", "g", "f", "e", "d", "c", "b", "a"};
  EXPECT_THAT(said(
                  cross, [](int q, int k) { return k == std::max(0, 7 - q); }, target),
              StartsWith("mostly the word it is about to write in this text"));
}

TEST(HeadInWords, CopiesOfATokenArePatterns) {
  const std::vector<std::string> twice{"a", "b", "c", "d", "a", "b", "c", "d"};
  EXPECT_THAT(said(
                  AttentionKind::decoder_self, [](int q, int k) { return k == std::max(0, q - 3); },
                  twice, twice),
              StartsWith("mostly the token after an earlier copy"));
  EXPECT_THAT(
      said(
          AttentionKind::decoder_self,
          [](int q, int k) { return k == (q < 4 ? q : q - 4) ? 0.9 : 0.1 / q; }, twice, twice),
      HasSubstr("earlier copies of the same token"));
}

// Of a decoder: one that looks at the first of four tokens, one at itself, one at everything.
std::pair<InputTokens, AttentionMaps> three_heads(const std::string& first) {
  InputTokens tokens;
  tokens.target = {first, "b", "c", "d"};
  AttentionMap map{AttentionKind::decoder_self, 1, 3, 4, 4, std::vector<float>(3 * 4 * 4), {}};
  for (int q = 0; q < 4; ++q)
    for (int k = 0; k <= q; ++k) {
      const auto n = static_cast<float>(q);
      map.head(0, 0)(q, k) = k == 0 ? 1.0f : 0.0f;
      map.head(0, 1)(q, k) = q == 0 ? 1.0f : k == q ? 0.75f : 0.25f / n;
      map.head(0, 2)(q, k) = 1 / (n + 1);
    }
  AttentionMaps maps;
  maps[static_cast<std::size_t>(AttentionKind::decoder_self)] = map;
  return {tokens, maps};
}

TEST(ClearestHead, HasTheLargestShareOfItsPatternInTheListAndIsNotParked) {
  const auto [tokens, maps] = three_heads("a");
  EXPECT_EQ(clearest_head(heads_in_words(tokens, maps)).head, 0);
  const auto [framed, same] = three_heads("<s>");  // where heads park
  EXPECT_EQ(clearest_head(heads_in_words(framed, same)).head, 1);
}

}  // namespace
}  // namespace heed
