#include "report/attention_json.h"

#include "data/dataset.h"
#include "report/page.h"

namespace heed {
namespace {

// [layer][head][query][key]
template <class Number>
ShortJson nested(const AttentionMap& map, Number&& number) {
  ShortJson layers = ShortJson::array();
  for (int layer = 0; layer < map.layers; ++layer) {
    ShortJson heads = ShortJson::array();
    for (int head = 0; head < map.heads; ++head) {
      ShortJson queries = ShortJson::array();
      for (int q = 0; q < map.queries; ++q) {
        ShortJson row = ShortJson::array();
        for (int k = 0; k < map.keys; ++k) row.push_back(number(layer, head, q, k));
        queries.push_back(std::move(row));
      }
      heads.push_back(std::move(queries));
    }
    layers.push_back(std::move(heads));
  }
  return layers;
}

}  // namespace

InputTokens input_tokens(const Example& input, const Tokenizers& tokenizers) {
  InputTokens tokens;
  for (const int id : input.source) tokens.source.push_back(tokenizers.source().piece(id));
  for (const int id : input.target) tokens.target.push_back(tokenizers.target->piece(id));
  return tokens;
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
    json["contribution_" + std::string(attention_name(kind))] =
        nested(map, [&](int layer, int head, int q, int k) {
          return static_cast<float>(map.contribution(layer, head, q, k));
        });
  }
  return json.dump(-1, ' ', false, ShortJson::error_handler_t::replace) + "\n";
}

}  // namespace heed
