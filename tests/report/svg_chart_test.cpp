#include "report/svg_chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace heed {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

Series line_of(int n) {
  Series s{"a", {}};
  for (int i = 1; i <= n; ++i) s.points.emplace_back(i, 1.0);
  return s;
}

TEST(SvgChart, ManyPointsKeepTheirSpikes) {
  Series s = line_of(20000);
  s.points[12344].second = 7;   // step 12345
  s.points[777].second = 0.25;  // step 778
  const std::string svg = svg_chart({"Loss", {s}});
  EXPECT_THAT(svg, HasSubstr("least 0.25 at step 778, largest 7 at step 12.3k"));
  EXPECT_LT(svg.size(), 10000u);
  // The line reaches the top and the bottom of the drawing area, 8 and 168 from above.
  EXPECT_THAT(svg, ContainsRegex("L[0-9.]+ 8\\.0"));
  EXPECT_THAT(svg, ContainsRegex("L[0-9.]+ 168\\.0"));
}

TEST(SvgChart, FewPointsAreAllDrawn) {
  const std::string svg = svg_chart({"Loss", {line_of(300)}});
  const std::string path = svg.substr(svg.rfind("class=\"line-0 dash-0\" d=\"M"));
  EXPECT_EQ(std::count(path.begin(), path.end(), 'L'), 299);
}

TEST(SvgChart, LinesDifferAndTheControlIsNoneOfThem) {
  Chart chart{"Entropy", {Series{"uniform", {{1, 2}}, true}}};
  for (int i = 0; i < 12; ++i) chart.series.push_back({"head", {{1, 1}}});
  const std::string svg = svg_chart(chart);
  EXPECT_THAT(svg, HasSubstr("class=\"line-control\""));
  for (const char* kind : {"line-0 dash-0", "line-4 dash-4", "line-0 dash-1", "line-1 dash-3"})
    EXPECT_THAT(svg, HasSubstr(kind));
}

}  // namespace
}  // namespace heed
