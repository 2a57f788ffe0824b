#include "base/number.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

TEST(ReadNumber, WholeNumbersAreDecimal) {
  const std::pair<const char*, int> cases[] = {{"08", 8},     {"-7", -7}, {"+1", 1},
                                               {"1e3", 1000}, {"5.0", 5}, {"2.5e1", 25}};
  for (const auto& [text, value] : cases) EXPECT_EQ(read_number<int>(text), value) << text;
}

TEST(ReadNumber, NumbersHaveAnyDecimalForm) {
  const std::pair<const char*, double> cases[] = {{".001", 0.001}, {"5.", 5},      {"+.5", 0.5},
                                                  {"-.5", -0.5},   {"1e-3", 1e-3}, {"007.5", 7.5}};
  for (const auto& [text, value] : cases) EXPECT_EQ(read_number<double>(text), value) << text;
}

TEST(ReadNumber, NothingElseIsOne) {
  for (const char* text : {"", " 1", "1 ", "0x10", "1_000", "1'000", "nan", "inf", "1e999", "+",
                           "++1", "+-1", "1e", ".", "1,5", "ten"}) {
    EXPECT_EQ(read_number<int>(text), std::nullopt) << text;
    EXPECT_EQ(read_number<double>(text), std::nullopt) << text;
  }
  EXPECT_EQ(read_number<int>("2.5"), std::nullopt);
}

TEST(ReadNumber, WhatTheTypeCannotHoldIsRefused) {
  EXPECT_EQ(read_number<int>("2147483648"), std::nullopt);
  EXPECT_EQ(read_number<int>("1e10"), std::nullopt);
  EXPECT_EQ(read_number<std::int64_t>("9223372036854775808"), std::nullopt);
  EXPECT_EQ(read_number<std::uint64_t>("18446744073709551615"), 18446744073709551615u);
  EXPECT_EQ(read_number<std::uint64_t>("18446744073709551616"), std::nullopt);
  EXPECT_EQ(read_number<std::uint64_t>("-1"), std::nullopt);
}

}  // namespace
}  // namespace heed
