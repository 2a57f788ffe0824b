#include "show/attention_page.h"

#include <fmt/core.h>

#include <cmath>
#include <functional>

#include "base/error.h"
#include "base/format.h"

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

// [[{"token", "p"}] per decoder row]
ShortJson json_of(const NextTokens& next, const Tokenizer& target) {
  ShortJson rows = ShortJson::array();
  for (const auto& best : next) {
    ShortJson row = ShortJson::array();
    for (const ScoredToken& t : best)
      row.push_back(
          {{"token", target.piece(t.id)}, {"p", static_cast<float>(std::exp(t.log_probability))}});
    rows.push_back(row);
  }
  return rows;
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

std::string attention_page(const AttentionPage& page, const Example& input,
                           const InputTokens& tokens, const MapsAndNext& pass,
                           const Tokenizer& target) {
  constexpr double kWeightBytes = 8;  // on average, as text
  double bytes = 0;
  ShortJson lengths = ShortJson::object();
  for (const AttentionKind kind : kAttentionKinds) {
    const AttentionMap& map = map_of(pass.maps, kind);
    bytes += kWeightBytes * static_cast<double>(map.weights.size());
    if (!map.empty()) lengths[attention_name(kind)] = map.lengths;
  }
  if (bytes > kMostPageBytes)
    throw Error(Exit::usage,
                fmt::format("the page would hold {} of weights; the limit is {}.",
                            format_bytes(bytes), format_bytes(kMostPageBytes)),
                "a shorter text; --json has no limit");
  ShortJson data = attention_json(input, tokens, pass.maps, false);
  data["lengths"] = lengths;
  data["about"] = page.about;
  data["source"] = tokens.source_text;
  data["target"] = tokens.target_text;
  data["start"] = {{"kind", attention_name(page.kind)}, {"layer", page.layer}, {"head", page.head}};
  if (!pass.next.empty()) data["next"] = json_of(pass.next, target);
  return page_with(attention_html, data);
}

}  // namespace heed
