#include "text/utf8.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "base/error.h"
#include "base/temporary_folder.h"

#include <random>

namespace heed {
namespace {

TEST(Utf8, EveryCodePointSurvives) {
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    if (c >= 0xD800 && c <= 0xDFFF) continue;
    const std::string bytes = encode_utf8(c);
    const CodePoint back = code_point_at(bytes, 0);
    ASSERT_EQ(back.value, c);
    ASSERT_EQ(back.length, static_cast<int>(bytes.size()));
  }
}

// Every character alone, and 2,000 lines of those that the rule of the final sigma looks at.
TEST(Utf8, LowerCaseIsPythons) {
  const char* script = R"(import random, sys, unicodedata
random.seed(7)
known = [c for c in map(chr, range(0x110000)) if unicodedata.category(c) not in ("Cn", "Cs")]
marks = [c for c in known if unicodedata.category(c) in ("Mn", "Me", "Cf", "Lm", "Sk")]
lines = [c for c in known if c not in "\n\t"]
for i in range(2000):
    kinds = ["Σ", "ΑΣ", ".", "'", ":", "·", " ", "1", "ª", "Ⅷ", "ⓐ", "İ"]
    lines.append("".join(random.choice((random.choice(kinds), random.choice(marks), "Σ")) for _ in range(12)))
out = sys.stdout.buffer
for line in lines: out.write((line + "\t" + line.lower() + "\n").encode()))";
  TemporaryFolder folder;
  std::ofstream(folder.path() / "lower.py") << script;
  const std::string file = (folder.path() / "lines").string();
  ASSERT_EQ(
      std::system(("python3 " + (folder.path() / "lower.py").string() + " > " + file).c_str()), 0);
  std::ifstream lines(file);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const std::size_t tab = line.find('\t');
    EXPECT_EQ(to_lower(line.substr(0, tab)), line.substr(tab + 1)) << printable(line);
  }
  EXPECT_GT(count, 100'000);
  EXPECT_EQ(to_lower("\xFF"
                     "A\xC3"),
            "\xFF"
            "a\xC3");  // no UTF-8
}

TEST(Utf8, WordsAsPythonSplitsThem) {
  const std::vector<std::string_view> expected = {"a", "b", "c\xE2\x80\x8B"};
  EXPECT_EQ(split_words(" a\xC2\xA0\x1F\nb\xE3\x80\x80 c\xE2\x80\x8B\t"), expected);
  EXPECT_TRUE(split_words(" \r\n").empty());
}

TEST(Normalize, GivesOneFormOfEachCharacter) {
  const auto nfc = [](std::string_view text) { return normalize(text, Normalize::nfc); };
  const auto nfkc = [](std::string_view text) { return normalize(text, Normalize::nfkc); };
  EXPECT_EQ(nfc("e\u0301"), "\u00E9");
  EXPECT_EQ(nfc("\uFB01 \uFF21"), "\uFB01 \uFF21");
  EXPECT_EQ(nfkc("\uFB01 \uFF21 x\u00B2"), "fi A x2");
  EXPECT_EQ(normalize("\uD55C \u00E9 \uFB01", Normalize::nfd), "\u1112\u1161\u11AB e\u0301 \uFB01");
  EXPECT_EQ(normalize("\u00E9 \uFB01", Normalize::nfkd), "e\u0301 fi");
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
      const std::size_t cut = last_normalization_boundary(text.substr(0, end));
      ASSERT_LT(cut, end);
      if (cut == 0) continue;
      ++cuts;
      for (const Normalize form :
           {Normalize::nfc, Normalize::nfkc, Normalize::nfd, Normalize::nfkd})
        EXPECT_EQ(normalize(text.substr(0, cut), form) + normalize(text.substr(cut), form),
                  normalize(text, form))
            << printable(text) << " cut at " << cut;
    }
  }
  EXPECT_GT(cuts, 10'000);
  EXPECT_EQ(last_normalization_boundary("abc"), 2u);
  EXPECT_EQ(last_normalization_boundary("ab\u0301"), 1u);
  EXPECT_EQ(last_normalization_boundary("\u0301\u0301"), 0u);
}

}  // namespace
}  // namespace heed
