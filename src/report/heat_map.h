// A matrix of weights as a picture in the terminal: a row per query, a column per key.
#pragma once

#include <span>
#include <string>

#include "math/mat.h"

namespace heed {

struct HeatMapStyle {
  bool colour = false;  // 256 colours and percentages, else shades " .:-=+*#%@"
  int width = 60;       // columns; keys that do not fit are wrapped into further blocks
};

// Long tokens are cut short with an ellipsis. `queries` and `keys` fit the weights.
std::string draw_heat_map(Mat<const float> weights, std::span<const std::string> queries,
                          std::span<const std::string> keys, const HeatMapStyle& style);

// What the colours or shades mean, in one line.
std::string heat_map_legend(const HeatMapStyle& style);

// `text` in exactly `width` columns of the terminal, cut or padded; wide characters count two.
std::string fitted(std::string_view text, int width);

}  // namespace heed
