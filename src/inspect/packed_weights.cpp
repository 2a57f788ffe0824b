#include "inspect/packed_weights.h"

#include <cmath>

#include "base/base64.h"

namespace heed {

std::vector<std::string> packed_weights(const AttentionMaps& maps, int bits) {
  std::vector<std::string> kinds;
  for (const AttentionMap& map : maps) {
    if (map.empty()) continue;
    std::vector<unsigned char> bytes;
    for (const float w : map.weights) {
      const long x = bits == 8 ? std::lround(255 * std::sqrt(w)) : std::lround(10'000.0 * w);
      bytes.push_back(static_cast<unsigned char>(x & 0xff));
      if (bits == 16) bytes.push_back(static_cast<unsigned char>(x >> 8));
    }
    kinds.push_back(base64(bytes));
  }
  return kinds;
}

}  // namespace heed
