#include "show/ablation.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "base/json.h"
#include "base/std_names.h"
#include "evaluate/scorer.h"

namespace heed {
namespace {

struct PartMean {
  vector<double> sum;  // over the rows
  double rows = 0;
};
using PartMeans = map<ModelPart, PartMean>;

// Sees what each part gives: y is x (0 if it is empty) and what the part adds. Takes parts away:
// each adds its mean, or 0 if there are no means. Without parts to take away, for one thread: adds
// up the means.
class PartObserver : public Observer<float> {
 public:
  explicit PartObserver(PartMeans& means, set<ModelPart> removed = {})
      : means_(means), removed_(std::move(removed)) {}

  void on_head(const Attention& a, int number, const AttentionHead<float>& head) override {
    see({ModelPart::heads, a.kind, a.layer, number}, {}, head.o);
  }
  void on_feed_forward(AttentionKind stack, int layer, Mat<float> y) override {
    see({ModelPart::feed_forward, stack, layer}, {}, y);
  }
  void on_layer(AttentionKind stack, int layer, Mat<const float> x, Mat<float> y) override {
    see({ModelPart::layers, stack, layer}, x, y);
  }

 private:
  void see(const ModelPart& part, Mat<const float> x, Mat<float> y) {
    if (removed_.empty()) return record(means_[part], x, y);
    if (!removed_.contains(part)) return;
    const auto mean = means_.find(part);
    for (int r = 0; r < y.rows; ++r)
      for (int c = 0; c < y.cols; ++c)
        y(r, c) = (x.empty() ? 0 : x(r, c)) +
                  float(mean == means_.end() ? 0 : mean->second.sum[c] / mean->second.rows);
  }
  static void record(PartMean& mean, Mat<const float> x, Mat<float> y) {
    mean.sum.resize(y.cols);
    for (int r = 0; r < y.rows; ++r)
      for (int c = 0; c < y.cols; ++c) mean.sum[c] += y(r, c) - (x.empty() ? 0 : x(r, c));
    mean.rows += y.rows;
  }

  PartMeans& means_;
  set<ModelPart> removed_;
};

using Losses = vector<double>;  // -log p of the labels of each example

double sum_of(const Losses& x) {
  return accumulate(x.begin(), x.end(), 0.0);
}

Losses losses_of(const Predictor& predictor, const vector<Example>& examples, Pool& pool,
                 Observer<float>* observer) {
  Losses sums;
  for (const auto& odds : label_odds(predictor, examples, pool, -1, observer)) {
    double& sum = sums.emplace_back(0);
    for (const TokenOdds& token : odds) sum -= token.log_probability;
  }
  return sums;
}

// What it is: {"sort", "kind", "layer", "head", "name": "cross, layer 0, head 1"}
Json part_json(const ModelPart& part) {
  constexpr const char* kSorts[] = {"attention", "layer", "feed_forward", "head"};
  string name = attention_name(part.kind);
  Json json{{"sort", kSorts[part.type]}, {"kind", name}};
  if (part.layer >= 0) json["layer"] = part.layer;
  if (part.head >= 0) json["head"] = part.head;
  name += part.layer < 0 ? ", all heads" : fmt::format(", layer {}", part.layer);
  if (part.head >= 0) name += fmt::format(", head {}", part.head);
  if (part.type == ModelPart::feed_forward) name += ", feed-forward";
  json["name"] = name;
  return json;
}

}  // namespace

vector<ModelPart> parts_of(const Transformer& model) {
  set<ModelPart> parts;
  for (const Stack* stack : {&model.encoder, &model.decoder})
    for (const Block& block : stack->blocks) {
      const auto add = [&](const Attention& a) {
        parts.insert({ModelPart::attention, a.kind});
        for (int h = 0; h < a.n_heads; ++h) parts.insert({ModelPart::heads, a.kind, a.layer, h});
      };
      const Attention& self = block.self_attention;
      add(self);
      if (block.cross_attention) add(*block.cross_attention);
      if (block.feed_forward) parts.insert({ModelPart::feed_forward, self.kind, self.layer});
      parts.insert({ModelPart::layers, self.kind, self.layer});
    }
  return {parts.begin(), parts.end()};
}

Json ablate(const Transformer& model, const ParamVec<float>& values,
            const vector<Example>& examples, Pool& pool, bool zero) {
  const vector<ModelPart> parts = parts_of(model);
  int passes = 0;
  const auto losses = [&](Pool& with, Observer<float>* observer) {
    ++passes;
    return losses_of({model, values}, examples, with, observer);
  };
  PartMeans means;
  PartObserver records(means);
  Pool alone(1);
  const Losses whole = zero ? losses(pool, nullptr) : losses(alone, &records);
  Losses tokens;
  vector<array<TokenIds, 3>> read;  // copies are one sequence that is drawn
  for (const Example& e : examples) {
    tokens.push_back(double(e.scored()));
    read.push_back({e.source, e.target, e.labels});
  }

  // Of each example, without the parts that `gone` names. A kind of attention is all of its heads.
  const auto differences = [&](auto&& gone) {
    set<ModelPart> removed;
    for (const ModelPart& part : parts)
      if (gone(part) || (part.type == ModelPart::heads && gone({ModelPart::attention, part.kind})))
        removed.insert(part);
    PartObserver removes(means, removed);
    Losses d = losses(pool, &removes);
    ranges::transform(d, whole, d.begin(), std::minus());
    return d;
  };
  ptrdiff_t different = 0;
  vector<Json> found;
  for (const ModelPart& part : parts) {
    const auto is_part = [&](const ModelPart& p) { return p == part; };
    const auto is_other = [&](const ModelPart& p) {
      return p.type == part.type && (p.kind == part.kind || p.type == ModelPart::attention) &&
             p != part;
    };
    const Losses d = differences(is_part);
    System rows;
    for (size_t i = 0; i < d.size(); ++i) rows.push_back({d[i], tokens[i]});
    const System units = merged(rows, read);
    different = ssize(units);
    const auto [low, high] = interval_of(units, figure("loss"), pool);
    Json& json = found.emplace_back(part_json(part));
    json["difference"] = sum_of(d) / sum_of(tokens);
    json.update({{"low", low}, {"high", high}});
    json["all_but_this"] =
        ranges::any_of(parts, is_other) ? sum_of(differences(is_other)) / sum_of(tokens) : kUnknown;
  }
  ranges::stable_sort(found, greater(),
                      [](const Json& part) { return part["difference"].get<double>(); });
  return {{"loss", sum_of(whole) / sum_of(tokens)},
          {"sequences", examples.size()},
          {"different", different},
          {"tokens", llround(sum_of(tokens))},
          {"passes", passes},
          {"replaced_by", zero ? "zero" : "mean"},
          {"parts", found}};
}

double loss_without(const ModelPart& part, const Predictor& predictor, const Example& example) {
  PartMeans none;
  PartObserver removes(none, {part});
  Pool alone(1);
  return losses_of(predictor, {example}, alone, &removes).front();
}

}  // namespace heed
