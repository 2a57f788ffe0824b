#include "report/page_maps.h"

#include <openssl/evp.h>

#include <cmath>

namespace heed {
namespace {

std::string base64(const std::vector<unsigned char>& bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // libcrypto adds a zero at the end
  text.resize(
      static_cast<std::size_t>(EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                               bytes.data(), static_cast<int>(bytes.size()))));
  return text;
}

}  // namespace

ShortJson page_of_maps(const InputTokens& tokens, const AttentionMaps& maps) {
  ShortJson kinds = ShortJson::array();
  for (const AttentionKind kind : kAttentionKinds)
    if (const AttentionMap& map = map_of(maps, kind); !map.empty())
      kinds.push_back(ShortJson{{"name", attention_name(kind)},
                                {"layers", map.layers},
                                {"heads", map.heads},
                                {"queries", query_tokens(tokens, kind)},
                                {"keys", key_tokens(tokens, kind)}});
  return {{"kinds", kinds}, {"frames", ShortJson::array()}};
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
