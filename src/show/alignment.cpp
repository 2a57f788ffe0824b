#include "show/alignment.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/format.h"

namespace heed {

HeadChoice alignment_heads(const std::string& text, const ModelConfig& model) {
  int layer = std::max(0, model.decoder_layers - 2), head = 0;
  const char* end = text.data() + text.size();
  const bool whole = text.find('.') == std::string::npos;
  std::from_chars_result read = std::from_chars(text.data(), end, layer);
  if (!whole && read.ptr < end) read = std::from_chars(read.ptr + 1, end, head);
  if (!text.empty() && (read.ec != std::errc() || read.ptr != end || layer < 0 || head < 0 ||
                        layer >= model.decoder_layers || head >= model.n_heads))
    throw Error(
        Exit::usage,
        fmt::format("--alignment={}: expected LAYER or LAYER.HEAD, a layer from 0 to {} and "
                    "a head from 0 to {}.",
                    text, model.decoder_layers - 1, model.n_heads - 1));
  return {"cross", layer, whole ? std::optional<int>() : head};
}

std::string alignment(const ModelView& m, const HeadChoice& heads, const TokenIds& source,
                      const TokenIds& target) {
  if (source.empty() || target.empty()) return "";
  Workspace workspace;
  const Example read{m.objective.framed_source(source), Objective::framed_target(target)};
  const MapsAndNext pass = maps_and_next(m.model, m.values, read, workspace, 0, heads);
  const AttentionMap& map = map_of(pass.maps, AttentionKind::cross);
  const int first = m.objective.traits().before_source;  // of the source's own tokens
  std::vector<std::string> pairs;
  for (std::size_t t = 0; t < target.size(); ++t) {  // row t writes target token t
    std::vector<double> weight(source.size());
    for (int head = 0; head < map.heads; ++head)
      for (std::size_t s = 0; s < source.size(); ++s)
        weight[s] += map.head(0, head)(static_cast<int>(t), first + static_cast<int>(s));
    pairs.push_back(fmt::format("{}-{}", std::ranges::max_element(weight) - weight.begin(), t));
  }
  return joined(pairs, " ");
}

}  // namespace heed
