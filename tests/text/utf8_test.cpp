#include "text/utf8.h"

#include <gtest/gtest.h>

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
  EXPECT_EQ(to_lower("ΣΊΣΥΦΟΣ ЖУК"), "σίσυφοσ жук");  // simple mapping: no final sigma
  EXPECT_EQ(to_lower("\xFF"
                     "A\xC3"),
            "\xFF"
            "a\xC3");
}

TEST(Utf8, WordsAsPythonSplitsThem) {
  const std::vector<std::string_view> expected = {"a", "b", "c\xE2\x80\x8B"};
  EXPECT_EQ(split_words(" a\xC2\xA0\x1F\nb\xE3\x80\x80 c\xE2\x80\x8B\t"), expected);
  EXPECT_TRUE(split_words(" \r\n").empty());
}

}  // namespace
}  // namespace heed
