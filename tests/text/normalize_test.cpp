#include "text/normalize.h"

#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "text/utf8.h"

namespace heed {
namespace {

TEST(Normalize, GivesOneFormOfEachCharacter) {
  const auto nfc = [](std::string_view text) { return normalize(text, Normalize::nfc); };
  const auto nfkc = [](std::string_view text) { return normalize(text, Normalize::nfkc); };
  EXPECT_EQ(nfc("e\u0301"), "\u00E9");
  EXPECT_EQ(nfc("\u212B ngstr\u00F6m"), "\u00C5 ngstr\u00F6m");
  EXPECT_EQ(nfc("\u1112\u1161\u11AB\u1100\u1173\u11AF"), "\uD55C\uAE00");  // Hangul
  EXPECT_EQ(nfc("a\u0307\u0323"), "\u1EA1\u0307");                         // marks change places
  EXPECT_EQ(nfc("\uFB01 \uFF21"), "\uFB01 \uFF21");
  EXPECT_EQ(nfkc("\uFB01 \uFF21 x\u00B2"), "fi A x2");
  EXPECT_EQ(nfkc("\u3131\u314F"), "\uAC00");  // letters of Hangul become a syllable
  const std::string any("a\0b\n\xC3\xA9", 6);
  EXPECT_EQ(nfc(any), any);
  EXPECT_EQ(normalize("e\u0301", Normalize::none), "e\u0301");
  EXPECT_THROW(nfc("\xFF"), Error);
}

TEST(Normalize, PartsNormaliseAsTheWholeDoesWhereItMayBeCut) {
  constexpr std::u32string_view kHard =
      U"ae \n\u0301\u0323\u0307\u1100\u1161\u11A8\uAC00\u3131\u314F\uFFC2\u09C7\u09BE\u0CC6\u0CC2"
      U"\u1025\u102E\u30AB\uFF9E\u3099\uFB01\u00E9\u00A8\u0340\u0F71\u0F72\u2126\U0001D15F\u4E00";
  std::mt19937 random(3);
  int cuts = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string text;
    for (int n = 1 + static_cast<int>(random() % 12); n > 0; --n)
      text += encode_utf8(kHard[random() % kHard.size()]);
    for (std::size_t end = 1; end <= text.size(); ++end) {
      const std::size_t cut = last_normalization_boundary(text, end);
      ASSERT_LT(cut, end);
      if (cut == 0) continue;
      ++cuts;
      for (const Normalize form : {Normalize::nfc, Normalize::nfkc})
        EXPECT_EQ(normalize(text.substr(0, cut), form) + normalize(text.substr(cut), form),
                  normalize(text, form))
            << printable(text) << " cut at " << cut;
    }
  }
  EXPECT_GT(cuts, 10'000);
  EXPECT_EQ(last_normalization_boundary("abc", 3), 2u);
  EXPECT_EQ(last_normalization_boundary("ab\u0301", 4), 1u);
  EXPECT_EQ(last_normalization_boundary("\u0301\u0301", 4), 0u);
}

}  // namespace
}  // namespace heed
