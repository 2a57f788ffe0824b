#include "report/attention_page.h"

#include <fmt/core.h>

#include <cmath>

#include "base/base64.h"
#include "base/error.h"
#include "base/format.h"
#include "inspect/packed_weights.h"
#include "report/page.h"

namespace heed {
namespace {

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

std::string attention_page(const AttentionPage& page, const InputTokens& tokens,
                           const MapsAndNext& pass, const Tokenizer& target) {
  std::size_t weights = 0;
  ShortJson lengths = ShortJson::array();
  for (const AttentionMap& map : pass.maps) {
    weights += map.weights.size();
    if (!map.empty()) lengths.push_back(map.lengths);
  }
  if (const std::size_t bytes = base64_size(2 * weights); bytes > kMostPageBytes)
    throw Error(Exit::usage,
                fmt::format("the page would hold {} of weights; the limit is {}.",
                            format_bytes(static_cast<double>(bytes)), format_bytes(kMostPageBytes)),
                "a shorter text; --json has no limit");
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
