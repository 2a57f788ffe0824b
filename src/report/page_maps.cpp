#include "report/page_maps.h"

#include <cmath>

#include "base/base64.h"

namespace heed {

ShortJson page_of_maps(const InputTokens& tokens, const AttentionMaps& maps) {
  return {{"kinds", ShortJson(kinds_json(tokens, maps))}, {"frames", ShortJson::array()}};
}

ShortJson packed_weights(const AttentionMaps& maps) {
  ShortJson kinds = ShortJson::array();
  for (const AttentionMap& map : maps) {
    if (map.empty()) continue;
    std::vector<unsigned char> bytes;
    for (const float w : map.weights) {
      const long x = std::lround(10000.0 * w);
      bytes.push_back(static_cast<unsigned char>(x & 0xff));
      bytes.push_back(static_cast<unsigned char>(x >> 8));
    }
    kinds.push_back(base64(bytes));
  }
  return kinds;
}

}  // namespace heed
