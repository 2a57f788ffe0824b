
#include <gtest/gtest.h>

#include <cstdio>

#include "base/utf8.h"
#include "cli/output.h"

namespace heed {
namespace {

template <class Print>
std::string printed(Print print) {
  testing::internal::CaptureStdout();
  print();
  std::fflush(stdout);
  return testing::internal::GetCapturedStdout();
}

const Json kRows = {{{"name", "a"}, {"loss", 12.5}, {"keys", "x=1 y=2"}},
                    {{"name", "b\x1b[2J\u00e9"}, {"loss", nullptr}, {"keys", ""}}};
const std::vector<Column> kColumns = {
    {"run", "name"}, {"loss", "loss", fixed<1>}, {"keys", "keys", plain, 0, Column::broken}};

TEST(Table, NumbersEndAtTheRightAndUnknownOnesAreADash) {
  EXPECT_EQ(printed([] { print_table(kRows, kColumns); }),
            "run          loss  keys\n"
            "a            12.5  x=1 y=2\n"
            "b<0x1B>[2J\u00e9     -\n");
}

TEST(Table, WithoutHeadingsThereIsNoLineOfThem) {
  const std::vector<Column> columns = {{"", "name"}, {"", "loss"}, {"", "missing"}};
  EXPECT_EQ(printed([&] { print_table(kRows, columns, "  "); }),
            "  a            12.5\n  b<0x1B>[2J\u00e9     -\n");
}

TEST(Table, TabsSeparateCellsForOtherPrograms) {
  EXPECT_EQ(printed([] { print_tabs(kRows, kColumns); }),
            "run\tloss\tkeys\na\t12.5\tx=1 y=2\nb<0x1B>[2J\u00e9\t\t\n");
  EXPECT_EQ(printed([] { print_tabs(Json::array({kRows[0]}), kColumns, "\t"); }),
            "\ta\t12.5\tx=1 y=2\n");
}

TEST(Output, InAPipeIsEscapedUnlessItIsData) {
  const std::string text = "a\x1b[2J\u202e\tb\n";
  EXPECT_EQ(printed([&] { print(text); }), "a<0x1B>[2J<U+202E>\tb\n");
  EXPECT_EQ(printed([&] { print_data(text); }), text);
  EXPECT_EQ(printed([&] { print_line(Json{{"t", "\u202e"}}); }), "{\"t\":\"\u202e\"}\n");
}

TEST(Table, FieldsAreNamesAndTexts) {
  EXPECT_EQ(printed([] {
              print_fields({{"loss", "1.2 nats"}, {"of", "3"}});
            }),
            "loss  1.2 nats\nof    3\n");
}

TEST(Table, TextsAreShortenedToTheirColumns) {
  const auto slowly = [](std::string text, int most) {
    if (columns_of(text) <= most) return text;
    while (columns_of(text) >= most && !text.empty())
      text.resize(utf8_floor(text, text.size() - 1));
    return text + "\u2026";
  };
  for (const std::string text : {"", "abc", "天天天", "ae\u0301\u0301e\u0301x", "\xFF\xFE天\xFFy"})
    for (int most = 0; most < 9; ++most) EXPECT_EQ(shortened(text, most), slowly(text, most));
  EXPECT_EQ(columns_of(shortened(std::string(5'000'000, 'x'), 60)), 60);  // at once
}

}  // namespace
}  // namespace heed
