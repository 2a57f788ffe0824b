#include "text/utf8.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

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

TEST(Utf8, LowerCaseIsUnicodes) {
  EXPECT_EQ(to_lower("ABC xyz [@] Ä É Ø ẞ"), "abc xyz [@] ä é ø ß");
  EXPECT_EQ(to_lower("ΣΊΣΥΦΟΣ ЖУК Σ ΟΣ. Ο.Σ ΌΣΟ"), "σίσυφος жук σ ος. ο.ς όσο");
  EXPECT_EQ(to_lower("İstanbul"), "i\xCC\x87stanbul");
  EXPECT_EQ(to_lower("\xFF"
                     "A\xC3"),
            "\xFF"
            "a\xC3");
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
}

TEST(Utf8, WordsAsPythonSplitsThem) {
  const std::vector<std::string_view> expected = {"a", "b", "c\xE2\x80\x8B"};
  EXPECT_EQ(split_words(" a\xC2\xA0\x1F\nb\xE3\x80\x80 c\xE2\x80\x8B\t"), expected);
  EXPECT_TRUE(split_words(" \r\n").empty());
}

}  // namespace
}  // namespace heed
