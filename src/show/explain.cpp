#include "show/explain.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/error.h"
#include "decode/best_tokens.h"
#include "show/pull.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;
using Row = std::vector<double>;

constexpr int kTopTokens = 5, kTopKeys = 3;
constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

double dot(const Row& a, const Row& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}
double mean(const Row& x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}
Row copied(Mat<const double> x, int row = 0) {
  return {x.row(row), x.row(row) + x.cols};
}
Row operator-(Row a, const Row& b) {
  std::ranges::transform(a, b, a.begin(), std::minus());
  return a;
}

// Keeps what a stack reads, and what its layers and feed-forward networks give.
struct StackRecorder : Observer<double> {
  AttentionKind stack;
  int row;
  std::vector<Row> rows, feed_forwards;  // before and after each layer

  StackRecorder(AttentionKind of, int at) : stack(of), row(at) {}
  void on_feed_forward(AttentionKind of, int, Mat<double> y) override {
    if (of == stack) feed_forwards.push_back(copied(y, row));
  }
  void on_layer(AttentionKind of, int, Mat<const double> x, Mat<double> y) override {
    if (of != stack) return;
    if (rows.empty()) rows.push_back(copied(x, row));
    rows.push_back(copied(y, row));
  }
};

struct Part {
  Json json;        // what it is, and its share
  Row normed = {};  // N of what it wrote
  const Attention* attention = nullptr;
  const AttentionHead<double>* head = nullptr;  // if it is one
};

class Explainer {
 public:
  Explainer(const Transformer& model, const ParamVec<double>& values, const Asked& asked)
      : model_(model),
        asked_(asked),
        stack_(model.has_decoder() ? model.decoder : model.encoder),
        seen_(stack_.blocks.front().self_attention.kind, asked.row),
        pass_{.values = values, .workspace = workspace_, .observer = &seen_} {
    Batch batch;
    batch.add(asked.read.source, asked.read.target);
    model.forward(pass_, batch, saved_);
    read_logits();
    u_ = direction();
  }

  Json result() {
    Json out{{"answer", token(answer_)},
             {"against", against_ < 0 ? Json() : token(against_)},
             {"mean_logit", mean(logits_)}};
    add_lens(out);
    std::vector<Part> all = parts();
    add_shares(all);
    for (const Part& part : all) out["shares"].push_back(part.json);
    if (!stack_.norm) out["shares"] = nullptr;
    out["total"] = logits_[answer_] - (against_ < 0 ? mean(logits_) : logits_[against_]);
    out["head"] = arithmetic(*std::ranges::max_element(all, {}, [&](const Part& p) {
      if (!p.head) return -std::numeric_limits<double>::infinity();
      return stack_.norm ? p.json["share"].get<double>() : dot(p.normed, p.normed);
    }));
    if (!asked_.answer.empty()) out["pull"] = pulls();
    return out;
  }

 private:
  const TokenIds& ids() const {
    return model_.has_decoder() ? asked_.read.target : asked_.read.source;
  }

  // The row's logits after every layer, and the two answers.
  void read_logits() {
    const int n = static_cast<int>(stack_.blocks.size());
    Mat<double> rows = pass_.matrix(n, model_.config.d_model);
    for (int i = 0; i < n; ++i) std::ranges::copy(seen_.rows[i + 1], rows.row(i));
    if (stack_.norm) {
      const auto [y, stats] = stack_.norm->forward(pass_, rows);
      rows = y;
      r_ = stats(n - 1, 1);
    }
    const Mat<double> logits = model_.output.forward(pass_, rows);
    for (int i = 0; i < n; ++i) lens_.emplace_back(logits.row(i), logits.row(i) + logits.cols);
    require_finite({lens_.back().data(), 1, logits.cols});
    logits_ = copied(logits, n - 1);
    const auto most_probable = [&](const TokenIds& of) {
      return *std::ranges::max_element(of, {}, [&](int id) { return logits_[id]; });
    };
    answer_ = asked_.answer.empty() ? best_tokens(lens_.back(), 1, {}).front().id
                                    : most_probable(asked_.answer);
    if (!asked_.against.empty()) against_ = most_probable(asked_.against);
    if (against_ == answer_)
      throw Error(Exit::usage, "--against names the answer itself.",
                  "another token, or --answer for another answer");
  }

  Json token(int id) const {
    return {{"id", id},
            {"logit", logits_[id]},
            {"probability", std::exp(scored_token(lens_.back(), id).log_probability)}};
  }

  // Also the layer from which on the answer is the most probable; null if it is not in the end.
  void add_lens(Json& out) const {
    Json lead;
    for (const std::vector<float>& logits : lens_) {
      const TokenOdds odds = token_odds(logits, answer_, kTopTokens);
      Json top = Json::array();
      for (const ScoredToken& t : odds.best)
        top.push_back({{"id", t.id}, {"logprob", t.log_probability}});
      const std::size_t layer = out["lens"].size();
      out["lens"].push_back({{"layer", layer},
                             {"top", top},
                             {"rank", odds.rank},
                             {"probability", std::exp(odds.log_probability)}});
      if (odds.rank > 1 || lead.is_null()) lead = odds.rank > 1 ? Json() : Json(layer);
    }
    out["lead"] = lead;
  }

  // N(z) = r (z - mean z) g; z with post-norm
  Row normed(Row z) const {
    if (!stack_.norm) return z;
    const double m = stack_.norm->kind.type == NormType::layer ? mean(z) : 0;
    const double* g = pass_[stack_.norm->weight].data;
    for (std::size_t c = 0; c < z.size(); ++c) z[c] = r_ * (z[c] - m) * g[c];
    return z;
  }
  // W_O,h v: what a head adds to the row for a value or an output, [d_head].
  Row through(const Attention& a, int h, const double* v) const {
    const Mat<const double> w = pass_[a.out.weight].part(h, a.d_head());
    Row y(w.rows);
    for (int i = 0; i < w.rows; ++i) y[i] = std::inner_product(v, v + w.cols, w.row(i), 0.0);
    return y;
  }
  // W N(z)
  Row logits_of(const Row& normed) {
    WorkspaceScope scope(workspace_);
    return copied(model_.output.forward(pass_, {normed.data(), 1, model_.config.d_model}));
  }
  // u
  Row direction() const {
    const Mat<const double> w = pass_[model_.output.weight];
    if (against_ >= 0) return copied(w, answer_) - copied(w, against_);
    Row u = copied(w, answer_);
    for (int k = 0; k < w.rows; ++k)
      for (int c = 0; c < w.cols; ++c) u[c] -= w(k, c) / w.rows;
    return u;
  }
  void add_shares(std::vector<Part>& parts) const {
    for (Part& part : parts) part.json["share"] = stack_.norm ? dot(u_, part.normed) : kUndefined;
  }

  std::vector<Part> parts() const;
  void add_heads(const Attention& a, const AttentionSaved<double>& saved,
                 std::vector<Part>& parts) const;
  Json arithmetic(const Part& head);
  Json pulls() const;

  const Transformer& model_;
  const Asked& asked_;
  const Stack& stack_;
  StackRecorder seen_;
  Workspace workspace_;
  Pass<double> pass_;
  TransformerSaved<double> saved_;
  std::vector<std::vector<float>> lens_;  // logits of each layer
  Row logits_;                            // of the last
  Row u_;                                 // what shares are measured along
  double r_ = 1;
  int answer_ = 0, against_ = -1;
};

Json place(const char* part, Json kind = {}, Json layer = {}, Json head = {}) {
  return {{"part", part}, {"kind", kind}, {"layer", layer}, {"head", head}};
}

void Explainer::add_heads(const Attention& a, const AttentionSaved<double>& saved,
                          std::vector<Part>& parts) const {
  const char* kind = attention_name(a.kind);
  for (int h = 0; h < a.n_heads; ++h)
    parts.push_back({place("head", kind, a.layer, h),
                     normed(through(a, h, saved.heads[h].o.row(asked_.row))), &a, &saved.heads[h]});
  if (a.out.bias.size() > 0)
    parts.push_back({place("out_proj_bias", kind, a.layer), normed(copied(pass_[a.out.bias]))});
}

std::vector<Part> Explainer::parts() const {
  const bool decoder = model_.has_decoder();
  const StackSaved<double>& saved = decoder ? saved_.decoder : saved_.encoder;
  const Embedding& e = decoder ? *model_.embeddings.target : *model_.embeddings.source;
  Row token = copied(pass_[e.tokens], ids()[asked_.row]);
  for (double& x : token) x *= e.scale;
  std::vector<Part> parts{{place("embedding"), normed(token)}};
  if (e.kind == Positions::learned || e.kind == Positions::sinusoidal)
    parts.push_back({place("positions"), normed(seen_.rows.front() - token)});
  for (std::size_t i = 0; i < stack_.blocks.size(); ++i) {
    const Block& block = stack_.blocks[i];
    const BlockSaved<double>& s = saved.blocks[i];
    add_heads(block.self_attention, s.self, parts);
    if (block.cross_attention) add_heads(*block.cross_attention, s.cross, parts);
    if (!block.feed_forward) continue;
    const char* stack = attention_name(seen_.stack);
    const Param b = block.feed_forward->fc2.bias;
    const Row bias = b.size() > 0 ? copied(pass_[b]) : Row(model_.config.d_model);
    parts.push_back({place("feed_forward", stack, i), normed(seen_.feed_forwards[i] - bias)});
    if (b.size() > 0) parts.push_back({place("fc2_bias", stack, i), normed(bias)});
  }
  if (stack_.norm && stack_.norm->bias.size() > 0)
    parts.push_back({place("norm_bias"), copied(pass_[stack_.norm->bias])});
  return parts;
}

// q . k, S, P and what the largest weights take.
Json Explainer::arithmetic(const Part& part) {
  const AttentionHead<double>& h = *part.head;
  const Row q = copied(h.q, asked_.row), output = copied(h.o, asked_.row);
  Row weights = copied(h.p, asked_.row);
  weights.resize(h.k.rows);
  std::vector<int> order(weights.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater(), [&](int j) { return weights[j]; });
  order.resize(std::min<std::size_t>(order.size(), kTopKeys));
  std::vector<Part> keys;
  for (const int j : order) {
    const double product = h.uniform ? kUndefined : dot(q, copied(h.k, j));
    Row taken = through(*part.attention, part.json["head"], h.v.row(j));
    for (double& x : taken) x *= weights[j];
    keys.push_back({{{"position", j},
                     {"k", copied(h.k, j)},
                     {"v", copied(h.v, j)},
                     {"dot", product},
                     {"score", product * h.scale},
                     {"weight", weights[j]}},
                    normed(std::move(taken))});
  }
  add_shares(keys);
  Json out = part.json;
  out.update({{"scale", h.scale},
              {"uniform", h.uniform},
              {"weights", weights},
              {"q", q},
              {"output", output}});
  out["log_sum"] = keys[0].json["score"].get<double>() - std::log(weights[order[0]]);
  for (const Part& key : keys) out["keys"].push_back(key.json);
  const Row logits = logits_of(part.normed);
  const std::vector<float> narrow(logits.begin(), logits.end());
  for (const ScoredToken& t : best_tokens(narrow, kTopTokens, {}))
    out["promotes"].push_back({{"id", t.id}, {"logit", logits[t.id] - mean(logits)}});
  return out;
}

// show/pull.h, of the answer's loss alone, on this row of each head that writes into it.
Json Explainer::pulls() const {
  Example read = asked_.read;
  read.labels.assign(ids().size(), -1);
  read.labels[asked_.row] = answer_;
  AttentionMaps maps = empty_maps(model_, read);
  const int width = model_.config.d_model / model_.config.n_heads, kv = kv_heads(model_.config);
  for (AttentionMap& map : maps)
    map.value_gradient.resize(static_cast<std::size_t>(map.layers) * kv * map.keys * width);
  Workspace workspace;
  add_pull(model_, pass_.values, read, workspace, maps);
  Json heads = Json::array();
  for_heads(maps, [&](AttentionKind kind, const AttentionMap& map, int layer, int head) {
    if (kind != seen_.stack && kind != AttentionKind::cross) return;
    const Mat<const double> g(map.value_gradient.data(), map.layers * kv * map.keys, width);
    const int first = (layer * kv + head * kv / map.heads) * map.keys;
    Row lengths;
    for (int j = first; j < first + map.keys; ++j)
      lengths.push_back(std::sqrt(dot(copied(g, j), copied(g, j))));
    Json json = place("head", attention_name(kind), layer, head);
    json["pull"] = copied(map.pulls(layer, head), asked_.row);
    json["value_pull"] = lengths;
    heads.push_back(json);
  });
  return heads;
}

}  // namespace

Json explain(const Transformer& model, const ParamVec<float>& values, const Asked& asked) {
  ParamVec<double> wide(values.size());
  std::copy_n(values.data(), values.size(), wide.data());
  return Explainer(model, wide, asked).result();
}

}  // namespace heed
