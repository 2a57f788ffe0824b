#include "base/utf8.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

constexpr std::size_t kValid = std::string_view::npos;

TEST(Utf8, FirstInvalidByte) {
  const struct {
    std::string_view text;
    std::size_t bad;
  } cases[] = {
      {"", kValid},
      {std::string_view("a\0b", 3), kValid},
      {"\xE0\xA0\x80 \xED\x9F\xBF \xEE\x80\x80 \xEF\xBF\xBF", kValid},
      {"\xF0\x90\x80\x80 \xF4\x8F\xBF\xBF", kValid},
      {"a\x80", 1},             // continuation alone
      {"ab\xC0\x80", 2},        // overlong NUL
      {"\xC1\xBF", 0},          // overlong
      {"\xF0\x8F\xBF\xBF", 0},  // overlong
      {"x\xED\xA0\x80", 1},     // first surrogate
      {"\xF4\x90\x80\x80", 0},  // above U+10FFFF
      {"\xF5\x80\x80\x80", 0},
      {"abc\xF0\x9F\x98", 3},  // cut short
      {"\xE2\x28\xA1", 0},     // continuation missing
  };
  for (const auto& c : cases) EXPECT_EQ(find_invalid_utf8(c.text), c.bad) << printable(c.text);
}

TEST(Utf8, FloorFindsTheStartOfACharacter) {
  const std::string text = "a\xC3\xA4\xF0\x9F\x98\x80z";
  const std::size_t floors[] = {0, 1, 1, 3, 3, 3, 3, 7, 8, 8};
  for (std::size_t at = 0; at < 10; ++at) EXPECT_EQ(utf8_floor(text, at), floors[at]) << at;
}

TEST(Utf8, WholeWordsEndBeforeASpaceOrWithACharacter) {
  EXPECT_EQ(whole_words("one two three", 9), "one two");
  EXPECT_EQ(whole_words("one two\nthree", 13), "one two");
  EXPECT_EQ(whole_words("a bcdefghijkl", 10), "a bcdefghi");  // the last space is too far back
  EXPECT_EQ(whole_words("\u4e2d\u6587\u5b57", 8), "\u4e2d\u6587");
  EXPECT_EQ(whole_words("word", 4), "word");
}

TEST(Utf8, PrintableStaysOnOneLine) {
  EXPECT_EQ(printable(std::string("a\n\t\r\0\x7F\xFFß", 9)), "a\\n\\t\\r<0x00><0x7F><0xFF>ß");
}

TEST(Utf8, AnExcerptHas80Columns) {
  const std::string x80(80, 'x'), wide = "\u4e2d";
  EXPECT_EQ(excerpt(x80), x80);
  EXPECT_EQ(excerpt(x80 + "x"), x80.substr(3) + "...");
  EXPECT_EQ(excerpt(std::string(1 << 20, '\n')).size(), 80u);  // \n 38 times, and a half
  std::string wides;
  for (int i = 0; i < 1000; ++i) wides += wide;
  EXPECT_EQ(excerpt(wides).size(), 38 * 3 + 3u);
  EXPECT_EQ(excerpt(wides.substr(0, 120)), wides.substr(0, 120));
  EXPECT_EQ(excerpt(""), "");
}

TEST(Utf8, NoControlCharacterReachesATerminalButNewlinesAndTabsStay) {
  EXPECT_EQ(printable("a\n\tb\r \x1B[2J\x07", true), "a\n\tb\\r <0x1B>[2J<0x07>");
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m ä \x9B",
                      true),
            "<U+009B>31m ä <0x9B>");
  EXPECT_EQ(printable("\xC2\x80\xC2\x9F\xC2\xA0\n"), "<U+0080><U+009F>\xC2\xA0\\n");
}

TEST(Utf8, WhatTurnsOrHidesATextIsShownButWhatScriptsNeedStays) {
  for (const std::string c : {"\u061c", "\u200e", "\u200f", "\u2028", "\u2029", "\u202a", "\u202e",
                              "\u2060", "\u2066", "\u2069", "\ufeff", "\ufff9", "\U000e0001"}) {
    const std::string shown = "a<" + code_point_name(code_point_at(c, 0).value) + ">b\n";
    EXPECT_EQ(printable("a" + c + "b\n", true), shown);
    EXPECT_EQ(printable("a" + c + "b"), shown.substr(0, shown.size() - 1));
  }
  const std::string kept = "\u00ad\u200b\u200c\u200d\u0301\u3000\u05d0";  // hyphens, joiners, marks
  EXPECT_EQ(printable(kept), kept);
}

}  // namespace
}  // namespace heed
