#include "inspect/packed_weights.h"

#include <openssl/evp.h>

#include <cmath>

namespace heed {

std::size_t packed_size(std::size_t weights, int bits) {
  return (weights * (bits / 8) + 2) / 3 * 4;
}

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
    std::string& text = kinds.emplace_back(packed_size(map.weights.size(), bits) + 1, '\0');
    EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes.data(),
                    static_cast<int>(bytes.size()));
    text.pop_back();  // libcrypto adds a zero at the end
  }
  return kinds;
}

}  // namespace heed
