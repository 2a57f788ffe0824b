#include "show/attention_summary.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "text/piece_model.h"

namespace heed {
namespace {

constexpr int kShownTokens = 16;  // rows and keys of a map

// "cross, layer 1, head 0:  85 %; last row:  91 % on ▁crow"
std::string line_of_head(const std::string& name, double sharp, Mat<const float> weights,
                         const std::vector<std::string>& keys) {
  const float* last = weights.row(weights.rows - 1);
  const auto strongest = std::max_element(last, last + weights.cols) - last;
  return fmt::format("{}: {:3.0f} %; last row: {:3.0f} % on {}\n", name, 100 * sharp,
                     100 * last[strongest], with_space_marks(keys[strongest]));
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

std::string name_of_head(AttentionKind kind, int layer, int head) {
  return fmt::format("{}, layer {}, head {}", attention_name(kind), layer, head);
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
  std::string out = "the strongest token of a row: its mean weight, and that in the last row\n";
  AttentionKind last = AttentionKind::cross;
  for (const AttentionKind kind : kAttentionKinds) {
    const AttentionMap& map = map_of(maps, kind);
    if (map.empty()) continue;
    last = kind;
    const std::vector<double> sharp = sharpness(map);
    for (int layer = 0; layer < map.layers; ++layer)
      for (int head = 0; head < map.heads; ++head)
        out += line_of_head(name_of_head(kind, layer, head), sharp[map.number(layer, head)],
                            map.head(layer, head), keys_of(tokens, kind));
  }
  const AttentionMap& map = map_of(maps, last);
  const SharpestHead best = sharpest_head(map);
  return out + "\nthe sharpest: " + name_of_head(last, best.layer, best.head) + "\n" +
         heat_map_legend(style) +
         draw_part(map.head(best.layer, best.head), queries_of(tokens, last), keys_of(tokens, last),
                   style) +
         "others: --kind, --layer and --head; all: --html FILE or --json\n";
}

std::string draw_heads(const HeadChoice& choice, const InputTokens& tokens,
                       const AttentionMaps& maps, const HeatMapStyle& style) {
  std::string out = heat_map_legend(style);
  for (const AttentionKind kind : kAttentionKinds) {
    const AttentionMap& map = map_of(maps, kind);
    for (int layer = 0; layer < map.layers; ++layer)
      for (int head = 0; head < map.heads; ++head) {
        if (!choice.takes(kind, layer, head)) continue;
        out += "\n" + name_of_head(kind, layer, head) + "\n" +
               draw_heat_map(map.head(layer, head), queries_of(tokens, kind), keys_of(tokens, kind),
                             style);
      }
  }
  return out;
}

}  // namespace heed
