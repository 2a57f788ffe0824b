#include "base/format.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

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
