#include "show/attention_summary.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "show/head_in_words.h"

namespace heed {
namespace {

constexpr int kShownTokens = 16;  // rows and keys of a map

constexpr const char* kAboutHeads =
    "each head in this text: its pattern, the weight there (if it were spread evenly)\n";

// "cross, layer 1, head 0: mostly the mirrored position, 85 % (17 %)"
std::string line_of_head(const std::string& name, const HeadInWords& head) {
  return fmt::format("{}: {}, {:.0f} % ({:.0f} %)\n", name, head.pattern, 100 * head.share,
                     100 * head.uniform);
}

// The keys with the largest weights in these rows, in their order in the text.
std::vector<int> strongest_keys(Mat<const float> rows) {
  std::vector<float> largest(rows.cols);
  for (int q = 0; q < rows.rows; ++q)
    for (int k = 0; k < rows.cols; ++k) largest[k] = std::max(largest[k], std::abs(rows(q, k)));
  std::vector<int> keys(rows.cols);
  std::iota(keys.begin(), keys.end(), 0);
  std::ranges::stable_sort(keys, [&](int a, int b) { return largest[a] > largest[b]; });
  keys.resize(std::min(rows.cols, kShownTokens));
  std::ranges::sort(keys);
  return keys;
}

}  // namespace

std::string name_of_head(AttentionKind kind, const AttentionMap& map, int layer, int head) {
  return fmt::format("{}, layer {}, head {}", attention_name(kind), map.first_layer + layer,
                     map.first_head + head);
}

std::string draw_part(Mat<const float> map, const std::vector<std::string>& queries,
                      const std::vector<std::string>& keys, const HeatMapStyle& style) {
  const int first = std::max(0, map.rows - kShownTokens);
  const Mat<const float> rows = map.row_range(first, map.rows);
  const std::vector<int> kept = strongest_keys(rows);
  std::vector<float> weights;
  std::vector<std::string> names;
  for (int q = 0; q < rows.rows; ++q)
    for (const int k : kept) weights.push_back(rows(q, k));
  for (const int k : kept) names.push_back(keys[k]);
  const int shown = static_cast<int>(kept.size());
  std::string out = draw_heat_map({weights.data(), rows.rows, shown},
                                  std::span(queries).subspan(first), names, style);
  if (first > 0 || shown < map.cols)
    out += fmt::format("(the last {} of {} rows, the {} strongest of {} keys)\n", rows.rows,
                       map.rows, shown, map.cols);
  return out;
}

std::string attention_summary(const InputTokens& tokens, const AttentionMaps& maps,
                              const HeatMapStyle& style) {
  std::string out = kAboutHeads;
  AttentionKind last = AttentionKind::cross;
  for (const AttentionKind kind : kAttentionKinds) {
    const AttentionMap& map = map_of(maps, kind);
    if (map.empty()) continue;
    last = kind;
    for (int layer = 0; layer < map.layers; ++layer)
      for (int head = 0; head < map.heads; ++head)
        out += line_of_head(name_of_head(kind, map, layer, head),
                            head_in_words(kind, map.head(layer, head), queries_of(tokens, kind),
                                          keys_of(tokens, kind)));
  }
  const AttentionMap& map = map_of(maps, last);
  const SharpestHead best = sharpest_head(map, keys_of(tokens, last));
  return out + "\nthe sharpest: " + name_of_head(last, map, best.layer, best.head) + "\n" +
         heat_map_legend(style) +
         draw_part(map.head(best.layer, best.head), queries_of(tokens, last), keys_of(tokens, last),
                   style);
}

std::string draw_heads(const InputTokens& tokens, const AttentionMaps& maps,
                       const HeatMapStyle& style) {
  std::string out = kAboutHeads + heat_map_legend(style);
  for (const AttentionKind kind : kAttentionKinds) {
    const AttentionMap& map = map_of(maps, kind);
    for (int layer = 0; layer < map.layers; ++layer)
      for (int head = 0; head < map.heads; ++head) {
        out += "\n" +
               line_of_head(name_of_head(kind, map, layer, head),
                            head_in_words(kind, map.head(layer, head), queries_of(tokens, kind),
                                          keys_of(tokens, kind))) +
               draw_heat_map(map.head(layer, head), queries_of(tokens, kind), keys_of(tokens, kind),
                             style);
      }
  }
  return out;
}

}  // namespace heed
