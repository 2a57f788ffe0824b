#include "show/attention_page.h"

#include <fmt/core.h>

#include <cmath>

#include "base/error.h"
#include "base/format.h"
#include "base/json.h"
#include "show/head_names.h"

namespace heed {
namespace {

template <class Item>
Json list(int n, Item&& item) {
  Json items = Json::array();
  for (int i = 0; i < n; ++i) items.push_back(item(i));
  return items;
}

// number(map, layer, head, query, key) of each kind, as "PREFIX_KIND": [layer][head][query][key].
template <class Number>
void add_maps(Json& json, const AttentionMaps& maps, const std::string& prefix, Number&& number) {
  for (const AttentionKind kind : kAttentionKinds)
    if (const AttentionMap& map = map_of(maps, kind); !map.empty())
      json[prefix + attention_name(kind)] = list(map.layers, [&](int layer) {
        return list(map.heads, [&](int head) {
          return list(map.queries, [&](int q) {
            return list(map.keys, [&](int k) { return number(map, layer, head, q, k); });
          });
        });
      });
}

constexpr auto kPull = [](const AttentionMap& map, int layer, int head, int q, int k) {
  return map.pulls(layer, head)(q, k);
};

// [[{"token", "p"}] per decoder row]
Json json_of(const NextTokens& next, const Tokenizer& target) {
  Json rows = Json::array();
  for (const auto& best : next) {
    Json row = Json::array();
    for (const ScoredToken& t : best)
      row.push_back(
          {{"token", target.piece(t.id)}, {"p", static_cast<float>(std::exp(t.log_probability))}});
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

Json attention_json(const Example& input, const InputTokens& tokens, const AttentionMaps& maps,
                    bool contributions) {
  Json json;
  json["source_ids"] = input.source;
  json["source_tokens"] = tokens.source;
  if (!tokens.source_bytes.empty()) json["source_bytes"] = tokens.source_bytes;
  json["target_ids"] = input.target;
  json["target_tokens"] = tokens.target;
  if (!tokens.target_bytes.empty()) json["target_bytes"] = tokens.target_bytes;
  add_maps(json, maps, "", [](const AttentionMap& map, int layer, int head, int q, int k) {
    return map.head(layer, head)(q, k);
  });
  if (contributions)
    add_maps(json, maps, "contribution_",
             [](const AttentionMap& m, int layer, int h, int q, int k) {
               return m.head(layer, h)(q, k) *
                      static_cast<double>(m.lengths[m.number(layer, h) * m.keys + k]);
             });
  json["patterns"] = heads_in_words(tokens, maps);
  return json;
}

std::string pull_json(const AttentionMaps& maps, const TokenIds& labels) {
  Json json{{"pull", {}}, {"label_ids", labels}};
  add_maps(json["pull"], maps, "", kPull);
  return json.dump();
}

std::string attention_page(const std::string& about, const Example& input,
                           const InputTokens& tokens, const MapsAndNext& pass,
                           const Tokenizer& target, bool reloads) {
  constexpr double kWeightBytes = 8;  // on average, as text
  double bytes = 0;
  bool pulled = false;
  Json lengths = Json::object(), first = Json::object();
  for (const AttentionKind kind : kAttentionKinds) {
    const AttentionMap& map = map_of(pass.maps, kind);
    bytes += kWeightBytes * static_cast<double>(map.weights.size() + map.pull.size());
    if (map.empty()) continue;
    lengths[attention_name(kind)] = map.lengths;
    const PlacedHead clearest = clearest_head(tokens, pass.maps, kind);
    first[attention_name(kind)] = {{"layer", clearest.layer}, {"head", clearest.head}};
    pulled = !map.pull.empty();
  }
  if (bytes > kMostPageBytes)
    throw Error(Exit::usage,
                fmt::format("the page would hold {} of weights; the limit is {}.",
                            format_bytes(bytes), format_bytes(kMostPageBytes)),
                "a shorter text; --layer and --head, for the page of these alone; or --json, which "
                "has no limit");
  Json data = attention_json(input, tokens, pass.maps, false);
  if (pulled) add_maps(data["pull"], pass.maps, "", kPull);
  data["lengths"] = lengths;
  data["first"] = first;
  data["about"] = about;
  data["reloads"] = reloads;
  data["source"] = tokens.source_text;
  data["target"] = tokens.target_text;
  if (!pass.next.empty()) data["next"] = json_of(pass.next, target);
  return page_with(attention_html, data);
}

}  // namespace heed
