#include "show/page.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/json.h"

namespace heed {
namespace {

TEST(Page, HoldsItsDataWhateverThatIs) {
  const Json data{{"text", "</script>\xff{{data}}"},
                  {"number", 0.1f},
                  {"none", std::numeric_limits<float>::quiet_NaN()},
                  {"most", std::numeric_limits<float>::infinity()}};
  EXPECT_EQ(page_with("<b>{{data}}</b>", data),
            "<b>{\"text\":\"\\u003c/script>\xEF\xBF\xBD{{data}}\",\"number\":0.1,"
            "\"none\":null,\"most\":null}</b>");
}

TEST(Page, EveryPageIsWhole) {
  for (const std::string page : {comparison_html, live_html, report_html}) {
    EXPECT_EQ(page.find("{{"), page.find("{{data}}"));
    EXPECT_EQ(page.find("{{", page.find("{{") + 1), std::string::npos);
    EXPECT_EQ(page.find("<!doctype html>"), 0u);
  }
}

}  // namespace
}  // namespace heed
