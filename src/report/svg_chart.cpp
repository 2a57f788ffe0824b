#include "report/svg_chart.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "base/format.h"
#include "report/page.h"

namespace heed {
namespace {

using Points = std::vector<std::pair<double, double>>;

// The drawing area in SVG units; labels stand left of it and under it.
constexpr std::size_t kStretches = 150;  // of a line of many points
constexpr double kWidth = 320, kHeight = 190, kLeft = 44, kRight = 8, kTop = 8, kBottom = 22;

std::string coordinate(double x) {
  return format_fixed(x, 1);
}

// 1, 2 or 5 times a power of ten, at least span / 4.
double nice_step(double span) {
  const double power = std::pow(10.0, std::floor(std::log10(span / 4)));
  for (const double m : {1.0, 2.0, 5.0})
    if (power * m >= span / 4) return power * m;
  return power * 10;
}

struct Axis {
  double low, high;
  bool logarithmic;
  double share(double x) const {
    if (logarithmic) return std::log(x / low) / std::log(high / low);
    return (x - low) / (high - low);
  }
  std::vector<double> ticks() const {
    std::vector<double> at;
    if (logarithmic) {
      for (double p = std::pow(10.0, std::floor(std::log10(low))); p <= high; p *= 10)
        for (const double m : {1.0, 2.0, 5.0})
          if (p * m >= low && p * m <= high) at.push_back(p * m);
      while (at.size() > 5) {
        std::vector<double> half;
        for (std::size_t i = 0; i < at.size(); i += 2) half.push_back(at[i]);
        at = half;
      }
      if (at.size() >= 2) return at;
      at.clear();
    }
    const double step = nice_step(high - low);
    for (double x = std::ceil(low / step) * step; x <= high + 1e-9 * step; x += step)
      at.push_back(std::abs(x) < 1e-9 * step ? 0 : x);
    return at;
  }
};

Axis axis_of(const std::vector<Points>& lines, bool second, bool logarithmic, bool from_zero) {
  Axis axis{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
            logarithmic};
  for (const Points& points : lines)
    for (const auto& [x, y] : points) {
      axis.low = std::min(axis.low, second ? y : x);
      axis.high = std::max(axis.high, second ? y : x);
    }
  if (from_zero) axis.low = std::min(0.0, axis.low);
  const double least = std::max({1e-12, 1e-6 * std::abs(axis.high)});
  if (axis.high - axis.low < least) {
    const double room = std::max(least, 0.1 * std::abs(axis.high));
    axis.high += room;
    if (!from_zero) axis.low = logarithmic ? axis.low / 1.1 : axis.low - room;
  }
  return axis;
}

// "from 6.91 at step 1 to 1.3 at step 500, least 1.2 at step 450"
std::string in_words(const Points& points) {
  const auto value = [](const std::pair<double, double>& p) {
    return short_number(p.second) + " at step " + short_number(p.first);
  };
  if (points.size() == 1) return value(points.front());
  const auto less = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto [least, largest] = std::minmax_element(points.begin(), points.end(), less);
  return "from " + value(points.front()) + " to " + value(points.back()) + ", least " +
         value(*least) + ", largest " + value(*largest);
}

// The first, the last, and of each stretch of points between the least and the largest.
Points thinned(const Points& points) {
  if (points.size() <= 2 * kStretches + 2) return points;
  const auto less = [](const auto& a, const auto& b) { return a.second < b.second; };
  Points out{points.front()};
  const std::size_t inner = points.size() - 2;
  for (std::size_t i = 0; i < kStretches; ++i) {
    const auto begin = points.begin() + 1 + static_cast<std::ptrdiff_t>(i * inner / kStretches);
    const auto end = points.begin() + 1 + static_cast<std::ptrdiff_t>((i + 1) * inner / kStretches);
    const auto [least, largest] = std::minmax_element(begin, end, less);
    out.push_back(*std::min(least, largest));
    if (least != largest) out.push_back(*std::max(least, largest));
  }
  out.push_back(points.back());
  return out;
}

}  // namespace

std::string short_number(double x) {
  char text[32];
  const double size = std::abs(x);
  if (size >= 1e4 && size < 1e9) return format_rate(x);
  if (size >= 1000 && size < 1e4) {
    std::snprintf(text, sizeof text, "%.0f", x);
  } else {
    std::snprintf(text, sizeof text, "%.3g", x);
  }
  return text;
}

std::vector<std::size_t> spread_indices(std::size_t size, std::size_t n) {
  std::vector<std::size_t> at;
  if (size <= n) n = size;
  for (std::size_t i = 0; i < n; ++i) at.push_back(n == 1 ? size - 1 : i * (size - 1) / (n - 1));
  return at;
}

std::string svg_chart(const Chart& chart) {
  std::vector<Points> lines;
  bool any = false;
  for (const Series& s : chart.series) {
    lines.emplace_back();
    for (const auto& p : s.points)
      if (std::isfinite(p.first) && std::isfinite(p.second) &&
          (!chart.logarithmic || p.second > 0)) {
        lines.back().push_back(p);
        any = true;
      }
  }
  if (!any) return "";
  const Axis x = axis_of(lines, false, false, false);
  const Axis y = axis_of(lines, true, chart.logarithmic, chart.from_zero);
  const auto px = [&](double v) { return kLeft + x.share(v) * (kWidth - kLeft - kRight); };
  const auto py = [&](double v) {
    return kHeight - kBottom - y.share(v) * (kHeight - kTop - kBottom);
  };

  std::string words = chart.title, grid, paths, legend;
  for (const double t : y.ticks()) {
    const std::string at = coordinate(py(t));
    grid += "<path class=\"grid\" d=\"M" + coordinate(kLeft) + " " + at + "H" +
            coordinate(kWidth - kRight) + "\"/><text x=\"" + coordinate(kLeft - 5) + "\" y=\"" +
            coordinate(py(t) + 4) + "\" text-anchor=\"end\">" + short_number(t) + "</text>";
  }
  for (const double t : x.ticks())
    grid += "<text x=\"" + coordinate(px(t)) + "\" y=\"" + coordinate(kHeight - 6) +
            "\" text-anchor=\"middle\">" + short_number(t) + "</text>";
  std::size_t count = 0;  // of lines that are no control: every five share their colours
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::size_t n = chart.series[i].control ? 0 : count++;
    const std::string kind = chart.series[i].control ? "line-control"
                                                     : "line-" + std::to_string(n % 5) + " dash-" +
                                                           std::to_string((n + n / 5) % 5);
    if (lines[i].empty()) continue;
    const std::string& name = chart.series[i].name;
    words += (i == 0 ? ": " : "; ") + (name.empty() ? "" : name + " ") + in_words(lines[i]);
    std::string d;
    for (const auto& [a, b] : thinned(lines[i]))
      d += (d.empty() ? "M" : "L") + coordinate(px(a)) + " " + coordinate(py(b));
    if (lines[i].size() == 1) d += "h0.1";
    paths += "<path class=\"" + kind + "\" d=\"" + d + "\"/>";
    if (!name.empty())
      legend +=
          "<span><svg class=\"sample\" viewBox=\"0 0 24 8\" aria-hidden=\"true\"><path class=\"" +
          kind + "\" d=\"M0 4H24\"/></svg>" + html_text(name) + "</span> ";
  }
  return "<figure><figcaption>" + html_text(chart.title) +
         (legend.empty() ? "" : " <span class=\"legend\">" + legend + "</span>") +
         "</figcaption><svg class=\"chart\" role=\"img\" viewBox=\"0 0 " + coordinate(kWidth) +
         " " + coordinate(kHeight) + "\" aria-label=\"" + html_text(words) + "\">" + grid + paths +
         "</svg></figure>\n";
}

}  // namespace heed
