#include "show/packed_weights.h"

#include <cmath>

#include "base/base64.h"

namespace heed {

std::vector<std::string> packed_weights(const AttentionMaps& maps) {
  std::vector<std::string> kinds;
  for (const AttentionMap& map : maps) {
    if (map.empty()) continue;
    std::vector<unsigned char> bytes;
    for (const float w : map.weights)
      bytes.push_back(static_cast<unsigned char>(std::lround(255 * std::sqrt(w))));
    kinds.push_back(base64(bytes));
  }
  return kinds;
}

}  // namespace heed
