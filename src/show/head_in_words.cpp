#include "show/head_in_words.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "text/piece_model.h"

namespace heed {
namespace {

// Where a head may look, and what its weights say of that, summed over the rows that see such a
// key.
struct Pattern {
  std::string words;
  std::function<bool(int query, int key)> points = {};  // empty: at one key
  double share = 0, even = 0;
  int rows = 0;

  void add(double row_share, double row_even) {
    share += row_share;
    even += row_even;
    ++rows;
  }
};

// Single keys come last, in their order.
std::vector<Pattern> patterns_of(AttentionKind kind, std::span<const std::string> queries,
                                 std::span<const std::string> keys) {
  const int n = static_cast<int>(queries.size()), m = static_cast<int>(keys.size());
  const auto same = [keys, queries](int key, int query) { return keys[key] == queries[query]; };
  const bool encoder = kind == AttentionKind::encoder_self;
  std::vector<Pattern> patterns;
  if (kind == AttentionKind::cross)
    patterns = {{"the word it is about to write",
                 [=](int i, int j) { return i + 1 < n && same(j, i + 1); }},
                {"the token at the same position", [](int i, int j) { return j == i; }},
                {"the mirrored position", [=](int i, int j) { return j == m - 2 - i; }}};
  else
    patterns = {
        {"itself", [](int i, int j) { return j == i; }},
        {"the previous token", [](int i, int j) { return j == i - 1; }},
        {"the token two back", [](int i, int j) { return j == i - 2; }},
        {"the next token", [=](int i, int j) { return encoder && j == i + 1; }},
        {"earlier copies of the same token", [=](int i, int j) { return j < i && same(j, i); }},
        {"the token after an earlier copy",
         [=](int i, int j) { return 0 < j && j < i && same(j - 1, i); }}};
  for (int k = 0; k < m; ++k)
    patterns.push_back({fmt::format("{}, “{}”",
                                    k == 0       ? "the first token"
                                    : k == m - 1 ? "the last token"
                                                 : "one token",
                                    with_space_marks(keys[k]))});
  return patterns;
}

}  // namespace

std::string HeadInWords::sentence() const {
  if (share == 0) return pattern;
  return fmt::format("{} in this text ({}; evenly spread weights would give {:.2f})", pattern,
                     simple
                         ? fmt::format("{:.2f} of the weight in the rows that see it", share)
                         : fmt::format("the largest weight of a row is {:.2f} on average", share),
                     uniform);
}

HeadInWords head_in_words(AttentionKind kind, Mat<const float> weights,
                          std::span<const std::string> queries, std::span<const std::string> keys) {
  std::vector<Pattern> patterns = patterns_of(kind, queries, keys);
  const std::size_t single = patterns.size() - keys.size();
  Pattern largest;
  for (int q = 0; q < weights.rows; ++q) {
    const int visible = kind == AttentionKind::decoder_self ? q + 1 : weights.cols;
    if (visible < 2) continue;  // no choice
    const float* row = weights.row(q);
    const double even = 1.0 / visible;
    largest.add(*std::max_element(row, row + visible), even);
    for (std::size_t p = 0; p < single; ++p) {
      double share = 0;
      int there = 0;
      for (int k = 0; k < visible; ++k) {
        const bool points = patterns[p].points(q, k);
        share += points ? row[k] : 0;
        there += points;
      }
      if (there > 0) patterns[p].add(share, there * even);
    }
    for (int k = 0; k < visible; ++k) patterns[single + k].add(row[k], even);
  }
  if (largest.rows == 0) return {"there is only one token to look at"};
  const Pattern* best = nullptr;
  for (Pattern& p : patterns) {
    if (p.rows == 0 || 2 * p.rows < largest.rows) continue;
    p.share /= p.rows;
    p.even /= p.rows;
    if (p.share < 0.3 || (p.share < 2 * p.even && p.share < 0.8)) continue;
    if (best == nullptr || p.share > best->share) best = &p;
  }
  if (best != nullptr)
    return {fmt::format("{} {}", best->share >= 0.5 ? "mostly" : "often", best->words), true,
            best->share, best->even};
  const double share = largest.share / largest.rows, even = largest.even / largest.rows;
  return {share < 2 * even ? "spread widely" : "no simple pattern", false, share, even};
}

nlohmann::ordered_json heads_in_words(const InputTokens& tokens, const AttentionMaps& maps) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const AttentionKind kind : kAttentionKinds) {
    const AttentionMap& map = map_of(maps, kind);
    for (int layer = 0; layer < map.layers; ++layer)
      for (int head = 0; head < map.heads; ++head) {
        const HeadInWords w = head_in_words(kind, map.head(layer, head), queries_of(tokens, kind),
                                            keys_of(tokens, kind));
        list.push_back({{"kind", attention_name(kind)},
                        {"layer", map.first_layer + layer},
                        {"head", map.first_head + head},
                        {"pattern", w.pattern},
                        {"share", w.share},
                        {"uniform", w.uniform},
                        {"sentence", w.sentence()}});
      }
  }
  return list;
}

}  // namespace heed
