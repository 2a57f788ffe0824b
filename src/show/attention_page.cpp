#include "show/attention_page.h"

#include <fmt/core.h>

#include <cmath>

#include "base/error.h"
#include "base/format.h"

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
