#include "show/heat_map.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "base/utf8.h"
#include "text/piece_model.h"

namespace heed {
namespace {

constexpr int kColumns = 60;  // of a block
constexpr std::string_view kShades = " .:-=+*#%@";
// From dark blue over teal to yellow, getting lighter, in the xterm palette.
constexpr std::array kColours = {17, 18, 24, 25, 31, 37, 36, 71, 113, 184, 226};
constexpr std::size_t kFirstLight = 5;  // black letters from here on
// From black to red for what is below 0, to green for what is above.
constexpr std::array kBelow = {16, 52, 88, 124, 160, 196}, kAbove = {16, 22, 28, 34, 40, 46};

// A token in exactly `width` columns, cut or padded; wide characters take two.
std::string fitted(const std::string& token, int width) {
  const std::string marked = with_space_marks(token);
  const std::string_view text = marked;
  const bool cut = columns_of(text) > width;
  const int room = cut ? width - 1 : width;  // the ellipsis takes one
  std::string out;
  int columns = 0;
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint c = code_point_at(text, i);
    const std::string_view character = text.substr(i, static_cast<std::size_t>(c.length));
    const int more = columns_of(character);
    if (columns + more > room) break;
    out += character;
    columns += more;
    i += character.size();
  }
  if (cut && width > 0) {
    out += "…";
    ++columns;
  }
  return out + std::string(static_cast<std::size_t>(std::max(0, width - columns)), ' ');
}

int longest(std::span<const std::string> texts) {
  int columns = 0;
  for (const std::string& text : texts) columns = std::max(columns, columns_of(text));
  return columns;
}

std::size_t step_of(float weight, std::size_t steps) {
  const float x = std::clamp(weight, 0.0f, 1.0f);
  return std::min(steps - 1, static_cast<std::size_t>(x * static_cast<float>(steps)));
}

std::string coloured(std::size_t step, const std::string& text) {
  return fmt::format("\x1b[48;5;{};38;5;{}m{}\x1b[0m", kColours[step],
                     step >= kFirstLight ? 16 : 231, text);
}

std::string signed_cell(float share, int width, bool colour) {
  const int tenths = std::clamp(static_cast<int>(std::lround(10 * share)), -9, 9);
  const std::string text =
      fmt::format("{:>{}} ", tenths == 0 ? "." : fmt::format("{}", tenths), width - 1);
  if (!colour) return text;
  const int shade = (tenths < 0 ? kBelow : kAbove)[(std::abs(tenths) + 1) / 2];
  return fmt::format("\x1b[48;5;{};38;5;231m{}\x1b[0m", shade, text);
}

std::string cell(float weight, int width, bool colour) {
  if (!colour) return std::string(width - 1, kShades[step_of(weight, kShades.size())]) + " ";
  const int percent = static_cast<int>(100.0f * weight + 0.5f);
  const std::string text = width > 2 && percent > 0 ? fmt::format("{}", percent) : "";
  return coloured(step_of(weight, kColours.size()), fmt::format("{:>{}}", text, width));
}

}  // namespace

std::string draw_heat_map(Mat<const float> weights, std::span<const std::string> queries,
                          std::span<const std::string> keys, const HeatMapStyle& style) {
  const int label = std::clamp(longest(queries), 1, 10);
  const bool has_signs = style.largest != 0;
  const int width =
      std::clamp(longest(keys) + 1, has_signs ? 3 : 2, 6);           // of a cell, with one space
  const int in_block = std::max(1, (kColumns - label - 1) / width);  // keys
  std::string out;
  for (int begin = 0; begin < weights.cols; begin += in_block) {
    const int end = std::min(weights.cols, begin + in_block);
    out += std::string(label + 1, ' ');
    for (int k = begin; k < end; ++k) out += fitted(keys[k], width - 1) + " ";
    out += "\n";
    for (int q = 0; q < weights.rows; ++q) {
      out += fitted(queries[q], label) + " ";
      for (int k = begin; k < end; ++k)
        out += (has_signs ? signed_cell : cell)(weights(q, k), width, style.colour);
      out += "\n";
    }
    if (end < weights.cols) out += "\n";
  }
  return out;
}

std::string heat_map_legend(const HeatMapStyle& style) {
  if (style.largest != 0)
    return fmt::format("tenths of {:.2g}: above 0 the weight should grow, below 0 shrink\n",
                       style.largest);
  std::string scale;
  if (style.colour)
    for (std::size_t step = 0; step < kColours.size(); ++step) scale += coloured(step, "  ");
  else
    scale = "\"" + std::string(kShades) + "\"";
  return fmt::format("weight 0 {} 1; a row is a query token, a column a key token\n", scale);
}

}  // namespace heed
