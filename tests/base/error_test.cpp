#include "base/error.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace heed
