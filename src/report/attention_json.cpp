#include "report/attention_json.h"

#include <fmt/core.h>

#include "data/dataset.h"
#include "report/page.h"

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

InputTokens input_tokens(const Example& input, const Tokenizers& tokenizers) {
  return {tokenizers.source().pieces(input.source), tokenizers.target->pieces(input.target)};
}

const std::vector<std::string>& query_tokens(const InputTokens& tokens, AttentionKind kind) {
  return kind == AttentionKind::encoder_self ? tokens.source : tokens.target;
}

const std::vector<std::string>& key_tokens(const InputTokens& tokens, AttentionKind kind) {
  return kind == AttentionKind::decoder_self ? tokens.target : tokens.source;
}

std::string attention_json(const Example& input, const InputTokens& tokens,
                           const AttentionMaps& maps, bool contributions) {
  ShortJson json;
  json["source_ids"] = input.source;
  json["source_tokens"] = tokens.source;
  json["target_ids"] = input.target;
  json["target_tokens"] = tokens.target;
  for (const AttentionKind kind : kAttentionKinds) {
    const AttentionMap& map = map_of(maps, kind);
    if (map.empty()) continue;
    json[attention_name(kind)] =
        nested(map, [&](int layer, int head, int q, int k) { return map.head(layer, head)(q, k); });
  }
  for (const AttentionKind kind : kAttentionKinds) {
    const AttentionMap& map = map_of(maps, kind);
    if (map.empty() || !contributions) continue;
    json[fmt::format("contribution_{}", attention_name(kind))] =
        nested(map, [&](int layer, int head, int q, int k) {
          return static_cast<float>(map.contribution(layer, head, q, k));
        });
  }
  return json.dump(-1, ' ', false, ShortJson::error_handler_t::replace) + "\n";
}

}  // namespace heed
