#include "report/attention_page.h"

#include <fmt/core.h>

#include <cmath>
#include <functional>

#include "base/error.h"
#include "base/format.h"
#include "inspect/packed_weights.h"
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

std::string attention_json(const Example& input, const InputTokens& tokens,
                           const AttentionMaps& maps, bool contributions) {
  ShortJson json;
  json["source_ids"] = input.source;
  json["source_tokens"] = tokens.source;
  json["target_ids"] = input.target;
  json["target_tokens"] = tokens.target;
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
  return json.dump(-1, ' ', false, ShortJson::error_handler_t::replace) + "\n";
}

std::string attention_page(const AttentionPage& page, const InputTokens& tokens,
                           const MapsAndNext& pass, const Tokenizer& target) {
  std::size_t weights = 0;
  ShortJson lengths = ShortJson::array();
  for (const AttentionMap& map : pass.maps) {
    weights += map.weights.size();
    if (!map.empty()) lengths.push_back(map.lengths);
  }
  if (const std::size_t bytes = packed_size(weights, 16); bytes > kMostPageBytes)
    throw Error(Exit::usage,
                fmt::format("the page would hold {} of weights; the limit is {}.",
                            format_bytes(static_cast<double>(bytes)), format_bytes(kMostPageBytes)),
                "a shorter --source or --target; --json has no limit");
  ShortJson data{{"kinds", ShortJson(kinds_json(tokens, pass.maps))},
                 {"frames", ShortJson::array()}};
  data["bits"] = 16;
  data["about"] = page.about;
  data["source"] = tokens.source_text;
  data["target"] = tokens.target_text;
  data["start"] = {{"kind", attention_name(page.kind)}, {"layer", page.layer}, {"head", page.head}};
  data["frames"].push_back(
      ShortJson{{"weights", packed_weights(pass.maps, 16)}, {"lengths", lengths}});
  if (!pass.next.empty()) data["next"] = json_of(pass.next, target);
  return page_with(attention_html, data);
}

}  // namespace heed
