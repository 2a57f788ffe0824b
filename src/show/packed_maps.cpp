#include "show/packed_maps.h"

#include <openssl/evp.h>

#include <algorithm>
#include <cmath>

namespace heed {

std::string base64(const std::vector<unsigned char>& bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // libcrypto adds a zero at the end
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes.data(),
                  static_cast<int>(bytes.size()));
  text.pop_back();
  return text;
}

std::vector<MapKind> kinds_of(const InputTokens& tokens, const AttentionMaps& maps) {
  std::vector<MapKind> kinds;
  for (const AttentionKind kind : kAttentionKinds)
    if (const AttentionMap& map = map_of(maps, kind); !map.empty())
      kinds.push_back({attention_name(kind), map.layers, map.heads, queries_of(tokens, kind),
                       keys_of(tokens, kind)});
  return kinds;
}

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

std::vector<PackedPull> packed_pull(const AttentionMaps& maps) {
  std::vector<PackedPull> kinds;
  for (const AttentionMap& map : maps) {
    if (map.empty()) continue;
    double largest = 0;
    for (const double x : map.pull) largest = std::max(largest, std::abs(x));
    std::vector<unsigned char> bytes;
    for (const double x : map.pull) {
      const double root = largest > 0 ? std::sqrt(std::abs(x) / largest) : 0;
      bytes.push_back(static_cast<unsigned char>(128 + std::lround(std::copysign(127 * root, x))));
    }
    kinds.push_back({static_cast<float>(largest), base64(bytes)});
  }
  return kinds;
}

ShownMaps unpacked(const Probe& probe, const Frame& frame) {
  ShownMaps shown;
  for (std::size_t i = 0; i < probe.kinds.size(); ++i) {
    const MapKind& kind = probe.kinds[i];
    const AttentionKind name =
        *std::ranges::find(kAttentionKinds, kind.name, attention_name);  // a known one
    (name == AttentionKind::encoder_self ? shown.tokens.source : shown.tokens.target) =
        kind.queries;
    (name == AttentionKind::decoder_self ? shown.tokens.target : shown.tokens.source) = kind.keys;
    AttentionMap& map = shown.maps[static_cast<std::size_t>(name)];
    map.layers = static_cast<int>(kind.layers);
    map.heads = static_cast<int>(kind.heads);
    map.queries = static_cast<int>(kind.queries.size());
    map.keys = static_cast<int>(kind.keys.size());
    const std::string& packed = frame.weights[i];
    std::vector<unsigned char> bytes(packed.size());
    EVP_DecodeBlock(bytes.data(), reinterpret_cast<const unsigned char*>(packed.data()),
                    static_cast<int>(packed.size()));
    bytes.resize(map.begin(map.layers, 0));
    for (const unsigned char b : bytes)
      map.weights.push_back(static_cast<float>(b) * static_cast<float>(b) / (255.0f * 255.0f));
  }
  return shown;
}

}  // namespace heed
