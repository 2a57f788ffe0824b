// Draws a matrix of weights in the terminal: a row per query, a column per key.
#pragma once

#include <span>
#include <string>

#include "math/mat.h"

namespace heed {

struct HeatMapStyle {
  bool colour = false;  // 256 colours and percentages, else shades " .:-=+*#%@"
  // Not 0: the numbers have signs and are shares of this one, drawn in tenths, -9 to 9.
  double largest = 0;
};

// At most 60 columns wide: keys that do not fit go into further blocks. Long tokens are cut and end
// in an ellipsis; their spaces are shown as U+2581. One string per row and per column of the
// weights.
std::string draw_heat_map(Mat<const float> weights, std::span<const std::string> queries,
                          std::span<const std::string> keys, const HeatMapStyle& style);

// One line that explains the colours or shades.
std::string heat_map_legend(const HeatMapStyle& style);

}  // namespace heed
