#include "base/format.h"

#include <gtest/gtest.h>

#include <limits>

namespace heed {
namespace {

TEST(Format, Rates) {
  EXPECT_EQ(format_rate(930.2), "930");
  EXPECT_EQ(format_rate(48'234), "48.2k");
  EXPECT_EQ(format_rate(999'990), "1.0M");
  EXPECT_EQ(format_rate(2.5e9), "2.5G");
}

TEST(Format, Durations) {
  EXPECT_EQ(format_duration(59.6), "1m00s");
  EXPECT_EQ(format_duration(72), "1m12s");
  EXPECT_EQ(format_duration(7'500), "2h05m");
  EXPECT_EQ(format_duration(100'000), "1d03h");
  EXPECT_EQ(format_duration(std::numeric_limits<double>::quiet_NaN()), "?");
}

TEST(Format, Numbers) {
  EXPECT_EQ(format_fixed(1.82309, 4), "1.8231");
  EXPECT_EQ(format_fixed(-std::numeric_limits<double>::infinity(), 4), "-inf");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1'234'567), "1,234,567");
  EXPECT_EQ(format_count(-1'234), "-1,234");
  EXPECT_EQ(format_bytes(3'500), "3.4 KiB");
  EXPECT_EQ(format_bytes(350.0 * 1024 * 1024), "350 MiB");
}

TEST(Format, WhatIsPutInIsNotSearchedAgain) {
  EXPECT_EQ(replace_all("-a--", "-", "--"), "--a----");
  EXPECT_EQ(replace_all("aaa", "aa", ""), "a");
  EXPECT_EQ(replace_all("", "a", "b"), "");
}

TEST(Wrapped, BreaksAtSpacesAndHangsTheRest) {
  EXPECT_EQ(wrapped("the old miller saw a river", 12, "  "), "the old\n  miller saw\n  a river");
  EXPECT_EQ(wrapped("  indented words stay so", 14, "  "), "  indented\n  words stay\n  so");
  EXPECT_EQ(wrapped("fits\n\nfits too", 8), "fits\n\nfits too");
  EXPECT_EQ(wrapped("a  b", 4), "a  b");  // what fits is not touched
  EXPECT_EQ(wrapped("", 10, "  "), "");
}

TEST(Wrapped, LeavesWordsAndCommandsWhole) {
  EXPECT_EQ(wrapped("see runs/a-long-name/report.html", 10), "see\nruns/a-long-name/report.html");
  EXPECT_EQ(wrapped("  heed resume runs/mine --more 20", 12, "  "),
            "  heed resume runs/mine --more 20");
}

TEST(Wrapped, CountsColumnsNotBytes) {
  EXPECT_EQ(wrapped("größe größe", 11), "größe größe");
  EXPECT_EQ(wrapped("天地 玄黄", 8), "天地\n玄黄");  // of two columns each
}

}  // namespace
}  // namespace heed
