#include "report/attention_page.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/format.h"
#include "report/page.h"

namespace heed {

extern const char* const attention_page_html;  // attention_page.html

namespace {

// Weights in ten-thousandths and flat, so that the page stays small.
int shown(float weight) {
  return static_cast<int>(std::lround(10000.0 * weight));
}

// Before anything of it is written.
void refuse_large_page(const AttentionMaps& maps) {
  double bytes = 0;
  for (const AttentionMap& map : maps)
    for (const float w : map.weights) {
      const int x = shown(w);
      bytes += x < 10 ? 2 : x < 100 ? 3 : x < 1000 ? 4 : x < 10000 ? 5 : 6;  // with a comma
    }
  if (bytes > kMostPageBytes)
    throw Error(Exit::usage,
                "The page would have " + format_bytes(bytes) + " of weights; the limit is " +
                    format_bytes(kMostPageBytes) + ".",
                "a shorter --source or --target; --json has no limit");
}

nlohmann::json json_of(const AttentionMap& map, AttentionKind kind) {
  std::vector<int> weights;
  for (const float w : map.weights) weights.push_back(shown(w));
  std::vector<double> lengths;
  for (const float x : map.lengths) lengths.push_back(std::round(10000.0 * x) / 10000.0);
  return {{"name", attention_name(kind)},
          {"layers", map.layers},
          {"heads", map.heads},
          {"queries", kind == AttentionKind::encoder_self ? "source" : "target"},
          {"keys", kind == AttentionKind::decoder_self ? "target" : "source"},
          {"weights", weights},
          {"lengths", lengths}};
}

}  // namespace

std::string attention_page(const AttentionPage& page, const InputTokens& tokens,
                           const AttentionMaps& maps) {
  refuse_large_page(maps);
  nlohmann::json data{
      {"about", page.about},
      {"start", {{"kind", attention_name(page.kind)}, {"layer", page.layer}, {"head", page.head}}},
      {"source", tokens.source},
      {"target", tokens.target},
      {"kinds", nlohmann::json::array()}};
  for (const AttentionKind kind : kAttentionKinds)
    if (const AttentionMap& map = map_of(maps, kind); !map.empty())
      data["kinds"].push_back(json_of(map, kind));
  return filled_page(attention_page_html, {{"data", json_for_script(data)}});
}

}  // namespace heed
