#include "show/attention_json.h"

#include <fmt/core.h>

#include <functional>

namespace heed {
namespace {

template <class Item>
ShortJson list(int n, Item&& item) {
  ShortJson items = ShortJson::array();
  for (int i = 0; i < n; ++i) items.push_back(item(i));
  return items;
}

// [layer][head][query][key]
template <class Number>
ShortJson nested(const AttentionMap& map, Number&& number) {
  return list(map.layers, [&](int layer) {
    return list(map.heads, [&](int head) {
      return list(map.queries, [&](int q) {
        return list(map.keys, [&](int k) { return number(layer, head, q, k); });
      });
    });
  });
}

}  // namespace

ShortJson attention_json(const Example& input, const InputTokens& tokens, const AttentionMaps& maps,
                         bool contributions) {
  ShortJson json;
  json["source_ids"] = input.source;
  json["source_tokens"] = tokens.source;
  if (!tokens.source_bytes.empty()) json["source_bytes"] = tokens.source_bytes;
  json["target_ids"] = input.target;
  json["target_tokens"] = tokens.target;
  if (!tokens.target_bytes.empty()) json["target_bytes"] = tokens.target_bytes;
  const auto add = [&](const char* prefix, auto number) {
    for (const AttentionKind kind : kAttentionKinds)
      if (const AttentionMap& map = map_of(maps, kind); !map.empty())
        json[fmt::format("{}{}", prefix, attention_name(kind))] =
            nested(map, [&](auto... at) { return static_cast<float>(number(map, at...)); });
  };
  add("", [](const AttentionMap& map, int layer, int head, int q, int k) {
    return map.head(layer, head)(q, k);
  });
  if (contributions) add("contribution_", std::mem_fn(&AttentionMap::contribution));
  return json;
}

}  // namespace heed
