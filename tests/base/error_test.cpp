#include "base/error.h"

#include <gtest/gtest.h>

#include "base/error_of.h"

namespace heed {
namespace {

TEST(Error, SaysWhatIsWrongAndEachThingToTry) {
  const Error plain(Exit::data, "a is missing");
  EXPECT_STREQ(plain.what(), "a is missing.");
  const Error hinted(Exit::data, "a is missing.", "b");
  EXPECT_STREQ(hinted.what(), "a is missing.\n  try: b");
  EXPECT_EQ(hinted.text(), "a is missing.");
  EXPECT_STREQ(hinted.as(Exit::store).what(), hinted.what());
  EXPECT_EQ(hinted.as(Exit::store).exit(), Exit::store);
  EXPECT_STREQ(plain.as(Exit::data, "c").what(), "a is missing.\n  try: c");
  EXPECT_STREQ(hinted.as(Exit::data, "c").what(), "a is missing.\n  try: b\n  try: c");
}

TEST(Facts, StandAsWholeWordsAndNumbers) {
  const std::pair<const char*, const char*> there[] = {
      {"at step 20.", "20"}, {"1,500 tokens", "1,500"}, {"step-1", "1"}, {"x 10.1, 0.1", "0.1"}};
  for (const auto& [text, fact] : there) EXPECT_TRUE(stands_in(text, fact)) << text;
  const std::pair<const char*, const char*> not_there[] = {
      {"is 0.1", "1"},   {"1,500 tokens", "1"}, {"1,500 tokens", "500"}, {"1e-4", "4"},
      {"found -1", "1"}, {"step 120", "20"},    {"words", "word"}};
  for (const auto& [text, fact] : not_there) EXPECT_FALSE(stands_in(text, fact)) << text;
}

}  // namespace
}  // namespace heed
