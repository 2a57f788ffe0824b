// A line chart as an HTML <figure> with inline SVG. Lines differ in colour and in dashes (classes
// line-0 to line-4 and dash-0 to dash-4 of the page; line-control is what others are compared
// with). A text alternative says where each begins, ends and turns. A line of very many points is
// drawn with the least and the largest of each short stretch, so that no spike is lost.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace heed {

struct Series {
  std::string name;                               // "" if it is the only one
  std::vector<std::pair<double, double>> points;  // (step, value); others than numbers are left out
  bool control = false;                           // what the others are compared with
};

struct Chart {
  std::string title;  // with the unit
  std::vector<Series> series;
  bool logarithmic = false;  // positive values only
  bool from_zero = false;
};

// "" if there is no point.
std::string svg_chart(const Chart& chart);

// Three significant digits as people write them: "12.3k", "0.0123", "9.1e-07".
std::string short_number(double x);

// At most `n` of the points, evenly, the first and the last among them.
std::vector<std::size_t> spread_indices(std::size_t size, std::size_t n);

}  // namespace heed
