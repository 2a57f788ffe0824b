#include "report/attention_page.h"

#include <fmt/core.h>

#include "base/error.h"
#include "base/format.h"
#include "report/page_maps.h"

namespace heed {

std::string attention_page(const AttentionPage& page, const InputTokens& tokens,
                           const AttentionMaps& maps) {
  std::size_t weights = 0;
  ShortJson lengths = ShortJson::array();
  for (const AttentionMap& map : maps) {
    weights += map.weights.size();
    if (!map.empty()) lengths.push_back(map.lengths);
  }
  if (const std::size_t bytes = packed_size(weights); bytes > kMostPageBytes)
    throw Error(Exit::usage,
                fmt::format("the page would hold {} of weights; the limit is {}.",
                            format_bytes(static_cast<double>(bytes)), format_bytes(kMostPageBytes)),
                "a shorter --source or --target; --json has no limit");
  ShortJson data = page_of_maps(tokens, maps);
  data["about"] = page.about;
  data["start"] = {{"kind", attention_name(page.kind)}, {"layer", page.layer}, {"head", page.head}};
  data["frames"].push_back(ShortJson{{"weights", packed_weights(maps)}, {"lengths", lengths}});
  return page_with(attention_html, data);
}

}  // namespace heed
