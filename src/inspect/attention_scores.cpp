#include "inspect/attention_scores.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/noise.h"

namespace heed {
namespace {

constexpr int kResamples = 1000;
// Resamples of fewer groups say little about other groups.
constexpr std::size_t kLeastGroups = 10;

// Sums over links, from which all three figures follow.
struct Sums {
  double links = 0, mass = 0, correct = 0, gold = 0, any_mass = 0, any_correct = 0;
  void add(const Sums& o, double times) {
    links += times * o.links;
    mass += times * o.mass;
    correct += times * o.correct;
    gold += times * o.gold;
    any_mass += times * o.any_mass;
    any_correct += times * o.any_correct;
  }
};

using GroupSums = std::vector<Sums>;  // by group

struct HeadSeries {
  GroupSums trained, untrained, shuffled;
};

Sums link_sums(Mat<const float> weights, const GoldLink& link) {
  const float* row = weights.row(link.query);
  const float most = *std::max_element(row, row + weights.cols);
  const auto share = 1.0 / static_cast<double>(std::count(row, row + weights.cols, most));
  Sums sums{.links = 1, .gold = static_cast<double>(link.keys.size())};
  for (const int key : link.keys) {
    sums.mass += row[key];
    if (row[key] == most) sums.correct += share;
  }
  for (const int key : link.also_right) {
    sums.any_mass += row[key];
    if (row[key] == most) sums.any_correct += share;
  }
  return sums;
}

// Mean over the wrong answers; no links if there are none.
Sums shuffled_sums(Mat<const float> weights, const GoldLink& link,
                   const std::vector<std::vector<int>>& distractors) {
  Sums sum, mean;
  for (const auto& distractor : distractors)
    if (disjoint(distractor, link.keys))
      sum.add(link_sums(weights, {link.query, distractor, distractor}), 1.0);
  if (sum.links > 0) mean.add(sum, 1.0 / sum.links);
  return mean;
}

Sums uniform_sums(const GoldLink& link, int keys, bool causal) {
  const double visible = causal ? link.query + 1 : keys;
  const auto gold = static_cast<double>(link.keys.size()),
             any = static_cast<double>(link.also_right.size());
  return {1, gold / visible, gold / visible, gold, any / visible, any / visible};
}

// Turns series into scores; all series use the same resamples (Efron 1979).
class Bootstrap {
 public:
  explicit Bootstrap(std::size_t groups) : times_(kResamples, std::vector<std::uint16_t>(groups)) {
    for (int b = 0; b < kResamples; ++b) {
      const std::uint64_t key = noise_key(0, Purpose::probe, b);
      for (std::size_t i = 0; i < groups; ++i)
        ++times_[b][static_cast<std::size_t>(uniform01(key, i) * static_cast<double>(groups))];
    }
  }

  Score score(const GroupSums& series) const {
    const Sums whole = weighted(series, std::vector<std::uint16_t>(series.size(), 1));
    if (whole.links == 0) return {};
    std::vector<Sums> resampled;
    const auto scored = std::count_if(series.begin(), series.end(),
                                      [](const Sums& group) { return group.links > 0; });
    if (static_cast<std::size_t>(scored) >= kLeastGroups)
      for (const auto& times : times_)
        if (const Sums sums = weighted(series, times); sums.links > 0) resampled.push_back(sums);
    const auto estimate = [&](auto figure) {
      Estimate e{figure(whole), std::nullopt};
      if (resampled.empty()) return e;
      std::vector<double> figures;
      std::ranges::transform(resampled, std::back_inserter(figures), figure);
      std::ranges::sort(figures);
      const auto at = [&](double share) {
        return figures[static_cast<std::size_t>(
            std::llround(share * static_cast<double>(figures.size() - 1)))];
      };
      e.interval = {at(0.025), at(0.975)};
      return e;
    };
    return {static_cast<std::size_t>(std::llround(whole.links)),
            estimate([](const Sums& s) { return s.mass / s.links; }),
            estimate([](const Sums& s) { return s.correct / s.links; }),
            estimate([](const Sums& s) { return 1.0 - 2.0 * s.correct / (s.links + s.gold); }),
            estimate([](const Sums& s) { return s.any_mass / s.links; }),
            estimate([](const Sums& s) { return s.any_correct / s.links; })};
  }

 private:
  static Sums weighted(const GroupSums& series, const std::vector<std::uint16_t>& times) {
    Sums sums;
    for (std::size_t g = 0; g < series.size(); ++g) sums.add(series[g], times[g]);
    return sums;
  }

  std::vector<std::vector<std::uint16_t>> times_;
};

}  // namespace

KindScores score_heads(const Transformer& model, const ParamVec<float>& trained,
                       const ParamVec<float>& untrained, const GoldSet& gold) {
  if (gold.examples.empty()) {
    std::string notes;
    for (const std::string& note : gold.notes) notes += " Note: " + note + ".";
    throw Error(Exit::data, "the gold file leaves nothing to score." + notes);
  }
  // Groups that are scored, numbered without gaps; examples come group by group.
  std::vector<std::size_t> group_of;
  std::size_t groups = 0;
  for (std::size_t e = 0; e < gold.examples.size(); ++e) {
    groups += e == 0 || gold.examples[e].group != gold.examples[e - 1].group;
    group_of.push_back(groups - 1);
  }
  const int heads = model.config.n_heads;
  const int layers = gold.kind == AttentionKind::encoder_self ? model.config.encoder_layers
                                                              : model.config.decoder_layers;
  const GroupSums zeros(groups);
  std::vector<HeadSeries> series(static_cast<std::size_t>(layers) * heads, {zeros, zeros, zeros});
  GroupSums uniform = zeros;
  KindScores scores{gold.kind, 0, groups, gold.group_name, false, {}, {}, gold.notes};
  Workspace workspace;
  for (std::size_t e = 0; e < gold.examples.size(); ++e) {
    const GoldExample& example = gold.examples[e];
    const std::size_t g = group_of[e];
    const AttentionMaps maps = attention_maps(model, trained, example.input, workspace);
    const AttentionMaps before = attention_maps(model, untrained, example.input, workspace);
    const AttentionMap& map = map_of(maps, gold.kind);
    for (const GoldLink& link : example.links) {
      ++scores.links;
      if (!link.also_right.empty()) scores.mentions = true;
      uniform[g].add(uniform_sums(link, map.keys, gold.kind == AttentionKind::decoder_self), 1);
      for (int layer = 0; layer < layers; ++layer)
        for (int head = 0; head < heads; ++head) {
          HeadSeries& s = series[static_cast<std::size_t>(layer) * heads + head];
          const Mat<const float> weights = map.head(layer, head);
          s.trained[g].add(link_sums(weights, link), 1);
          s.untrained[g].add(link_sums(map_of(before, gold.kind).head(layer, head), link), 1);
          s.shuffled[g].add(shuffled_sums(weights, link, example.distractors), 1);
        }
    }
  }
  const Bootstrap bootstrap(groups);
  scores.uniform = bootstrap.score(uniform);
  if (groups < kLeastGroups)
    scores.notes.push_back(
        fmt::format("no intervals: fewer than {} {}", kLeastGroups, gold.group_name));
  for (int layer = 0; layer < layers; ++layer)
    for (int head = 0; head < heads; ++head) {
      const HeadSeries& s = series[static_cast<std::size_t>(layer) * heads + head];
      scores.heads.push_back({layer, head, bootstrap.score(s.trained), bootstrap.score(s.untrained),
                              bootstrap.score(s.shuffled)});
    }
  return scores;
}

}  // namespace heed
