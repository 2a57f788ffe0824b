#include "show/explain.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/error.h"
#include "decode/best_tokens.h"
#include "math/row_ops.h"
#include "show/pull.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;
using Row = std::vector<double>;

constexpr int kTopTokens = 5, kTopKeys = 3;
constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

double dot(const double* a, const double* b, std::size_t n) {
  return std::inner_product(a, a + n, b, 0.0);
}
double mean(const Row& x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}
Row copied(Mat<const double> x, int row = 0) {
  return {x.row(row), x.row(row) + x.cols};
}

// Keeps what each layer of a stack gives. The rows belong to the pass.
struct LayerRecorder : Observer<double> {
  AttentionKind stack;
  std::vector<Mat<const double>> layers = {};

  explicit LayerRecorder(AttentionKind of) : stack(of) {}
  void on_layer(AttentionKind of, int, Mat<const double>, Mat<double> y) override {
    if (of == stack) layers.push_back(y);
  }
};

struct SeenHead {
  const Attention* attention = nullptr;
  const AttentionHead<double>* saved = nullptr;
  int head = 0;
  double strength = -std::numeric_limits<double>::infinity();
};

class Explainer {
 public:
  Explainer(const Transformer& model, const ParamVec<double>& values, const Asked& asked)
      : model_(model),
        asked_(asked),
        stack_(model.has_decoder() ? model.decoder : model.encoder),
        layers_(stack_.blocks.front().self_attention.kind),
        pass_{.values = values, .workspace = workspace_, .observer = &layers_} {
    Batch batch;
    batch.add(asked.read.source, asked.read.target);
    model.forward(pass_, batch, saved_);
    read_logits();
    if (stack_.norm) toward_ = normed_transposed(contrast());
  }

  Json result() {
    Json out{{"answer", token(answer_)},
             {"against", against_ < 0 ? Json() : token(against_)},
             {"mean_logit", mean(logits_)},
             {"lens", lens()}};
    out["lead"] = lead(out["lens"]);
    Json shares = shares_of_all();
    out["shares"] = stack_.norm ? std::move(shares) : Json();
    out["total"] = logits_[answer_] - (against_ < 0 ? mean(logits_) : logits_[against_]);
    out["head"] = arithmetic();
    if (!asked_.answer.empty()) out["pull"] = pulls();
    return out;
  }

 private:
  // The row's logits after every layer, and the two answers.
  void read_logits() {
    const int n = static_cast<int>(layers_.layers.size());
    const Mat<double> rows = pass_.matrix(n, model_.config.d_model);
    for (int i = 0; i < n; ++i) copy_row(layers_.layers[i], asked_.row, rows, i);
    Mat<double> normed = rows;
    if (stack_.norm) {
      const auto [y, stats] = stack_.norm->forward(pass_, rows);
      normed = y;
      scale_ = stats(n - 1, 1);
    }
    const Mat<double> logits = model_.output.forward(pass_, normed);
    for (int i = 0; i < n; ++i) lens_.emplace_back(logits.row(i), logits.row(i) + logits.cols);
    require_finite({lens_.back().data(), 1, logits.cols});
    logits_ = copied(logits, n - 1);
    answer_ = asked_.answer.empty() ? best_tokens(lens_.back(), 1, {}).front().id
                                    : most_probable(asked_.answer);
    if (!asked_.against.empty()) against_ = most_probable(asked_.against);
    if (against_ == answer_) throw Error(Exit::usage, "--against names the answer itself.");
  }

  int most_probable(const TokenIds& ids) const {
    return *std::ranges::max_element(ids, {}, [&](int id) { return logits_[id]; });
  }
  Json token(int id) const {
    return {{"id", id},
            {"logit", logits_[id]},
            {"probability", std::exp(scored_token(lens_.back(), id).log_probability)}};
  }

  Json lens() const {
    Json layers = Json::array();
    for (const std::vector<float>& logits : lens_) {
      const TokenOdds odds = token_odds(logits, answer_, kTopTokens);
      Json top = Json::array();
      for (const ScoredToken& t : odds.best)
        top.push_back({{"id", t.id}, {"logprob", t.log_probability}});
      layers.push_back({{"layer", layers.size()},
                        {"top", top},
                        {"rank", odds.rank},
                        {"probability", std::exp(odds.log_probability)}});
    }
    return layers;
  }

  // The layer from which on the answer is the most probable; null if it is not in the end.
  static Json lead(const Json& lens) {
    Json first;
    for (auto layer = lens.rbegin(); layer != lens.rend() && (*layer)["rank"] == 1; ++layer)
      first = (*layer)["layer"];
    return first;
  }

  // u = W_answer - mean_k W_k  or  - W_against
  Row contrast() const {
    const Mat<const double> w = pass_[model_.output.weight];
    Row u = copied(w, answer_);
    for (int c = 0; c < w.cols; ++c) {
      double sum = 0;
      for (int k = 0; k < w.rows && against_ < 0; ++k) sum += w(k, c);
      u[c] -= against_ < 0 ? sum / w.rows : w(against_, c);
    }
    return u;
  }
  // RMSNorm takes the mean as 0.
  Row centred(Row x) const {
    if (stack_.norm->kind.type == NormType::rms) return x;
    const double m = mean(x);
    for (double& number : x) number -= m;
    return x;
  }
  // N(z) = r (z - mean z) g
  Row normed(Row z) const {
    if (!stack_.norm) return z;
    z = centred(std::move(z));
    for (std::size_t c = 0; c < z.size(); ++c) z[c] *= scale_ * gain()[c];
    return z;
  }
  // a = Nᵀ u = r (g u - mean(g u))
  Row normed_transposed(Row u) const {
    for (std::size_t c = 0; c < u.size(); ++c) u[c] *= scale_ * gain()[c];
    return centred(std::move(u));
  }
  const double* gain() const { return pass_[stack_.norm->weight].data; }

  // a . z
  double share(const double* z) const {
    return stack_.norm ? dot(toward_.data(), z, toward_.size()) : kUndefined;
  }

  // W_O,h v: what a head adds to the row for a value or an output [d_head].
  Row through(const SeenHead& h, const double* v) const {
    const Mat<const double> w = pass_[h.attention->out.weight].part(h.head, h.attention->d_head());
    Row y(w.rows);
    for (int r = 0; r < w.rows; ++r) y[r] = dot(w.row(r), v, w.cols);
    return y;
  }

  Json shares_of_all();
  Json arithmetic() const;
  Json promoted(const Row& added) const;
  Json pulls() const;

  const Transformer& model_;
  const Asked& asked_;
  const Stack& stack_;
  LayerRecorder layers_;
  Workspace workspace_;
  Pass<double> pass_;
  TransformerSaved<double> saved_;
  std::vector<std::vector<float>> lens_;  // [layer] logits
  Row logits_;
  double scale_ = 1;  // r
  int answer_ = 0, against_ = -1;
  Row toward_;  // a; empty with post-norm
  SeenHead strongest_;
};

Json Explainer::shares_of_all() {
  Json rows = Json::array();
  const auto add = [&](const char* part, double share, Json kind = {}, Json layer = {},
                       Json head = {}) {
    rows.push_back(
        {{"part", part}, {"kind", kind}, {"layer", layer}, {"head", head}, {"share", share}});
  };
  const bool decoder = model_.has_decoder();
  const StackSaved<double>& saved = decoder ? saved_.decoder : saved_.encoder;
  const auto add_attention = [&](const Attention& a, const AttentionSaved<double>& s) {
    for (int h = 0; h < a.n_heads; ++h) {
      SeenHead seen{&a, &s.heads[h], h};
      const Row added = through(seen, seen.saved->o.row(asked_.row));
      seen.strength =
          stack_.norm ? share(added.data()) : dot(added.data(), added.data(), added.size());
      add("head", seen.strength, attention_name(a.kind), a.layer, h);
      if (seen.strength > strongest_.strength) strongest_ = seen;
    }
    if (a.out.bias.size() > 0)
      add("out_proj_bias", share(pass_[a.out.bias].data), attention_name(a.kind), a.layer);
  };
  const Embedding& e = decoder ? *model_.embeddings.target : *model_.embeddings.source;
  const Mat<const double> first = saved.blocks.front().self_residual.in;
  Row embedding =
      copied(pass_[e.tokens], (decoder ? asked_.read.target : asked_.read.source)[asked_.row]);
  for (double& x : embedding) x *= e.scale;
  add("embedding", share(embedding.data()));
  if (e.kind == Positions::learned || e.kind == Positions::sinusoidal)
    add("positions", share(first.row(asked_.row)) - share(embedding.data()));
  for (std::size_t i = 0; i < stack_.blocks.size(); ++i) {
    const Block& block = stack_.blocks[i];
    const BlockSaved<double>& s = saved.blocks[i];
    add_attention(block.self_attention, s.self);
    if (block.cross_attention) add_attention(*block.cross_attention, s.cross);
    if (!block.feed_forward) continue;
    const char* stack = attention_name(layers_.stack);
    const Param b = block.feed_forward->fc2.bias;
    const double bias = b.size() > 0 ? share(pass_[b].data) : 0;
    add("feed_forward",
        share(layers_.layers[i].row(asked_.row)) -
            share(s.feed_forward_residual.in.row(asked_.row)) - bias,
        stack, i);
    if (b.size() > 0) add("fc2_bias", bias, stack, i);
  }
  if (stack_.norm && stack_.norm->bias.size() > 0)
    add("norm_bias", dot(contrast().data(), pass_[stack_.norm->bias].data, toward_.size()));
  return rows;
}

// q . k, S, P and what the largest weights take, of the strongest head.
Json Explainer::arithmetic() const {
  const Attention& a = *strongest_.attention;
  const AttentionHead<double>& h = *strongest_.saved;
  const double* q = h.q.row(asked_.row);
  const double* p = h.p.row(asked_.row);
  std::vector<int> order(h.k.rows);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater(), [&](int j) { return p[j]; });
  order.resize(std::min<std::size_t>(order.size(), kTopKeys));
  Json keys = Json::array();
  for (const int j : order) {
    const double product = dot(q, h.k.row(j), h.k.cols);
    keys.push_back({{"position", j},
                    {"k", copied(h.k, j)},
                    {"v", copied(h.v, j)},
                    {"dot", h.uniform ? kUndefined : product},
                    {"score", h.uniform ? kUndefined : product * h.scale},
                    {"weight", p[j]},
                    {"share", p[j] * share(through(strongest_, h.v.row(j)).data())}});
  }
  const Row output = copied(h.o, asked_.row);
  return {{"kind", attention_name(a.kind)},
          {"layer", a.layer},
          {"head", strongest_.head},
          {"share", stack_.norm ? strongest_.strength : kUndefined},
          {"scale", h.scale},
          {"uniform", h.uniform},
          {"log_sum", keys[0]["score"].get<double>() - std::log(p[order[0]])},
          {"weights", Row(p, p + h.k.rows)},
          {"q", copied(h.q, asked_.row)},
          {"keys", keys},
          {"output", output},
          {"promotes", promoted(through(strongest_, output.data()))}};
}

// The tokens whose logits what a head adds raises most, above the mean of all.
Json Explainer::promoted(const Row& added) const {
  const Row z = normed(added);
  const Mat<const double> w = pass_[model_.output.weight];
  Row logits(w.rows);
  for (int k = 0; k < w.rows; ++k) logits[k] = dot(w.row(k), z.data(), z.size());
  const double m = mean(logits);
  Json tokens = Json::array();
  const std::vector<float> narrow(logits.begin(), logits.end());
  for (const ScoredToken& t : best_tokens(narrow, kTopTokens, {}))
    tokens.push_back({{"id", t.id}, {"logit", logits[t.id] - m}});
  return tokens;
}

// show/pull.h, of the answer's loss alone, on this row of each head that writes into it.
Json Explainer::pulls() const {
  Example read = asked_.read;
  read.labels.assign((model_.has_decoder() ? read.target : read.source).size(), -1);
  read.labels[asked_.row] = answer_;
  AttentionMaps maps = empty_maps(model_, read);
  const int width = model_.config.d_model / model_.config.n_heads, kv = kv_heads(model_.config);
  for (AttentionMap& map : maps)
    map.value_gradient.resize(static_cast<std::size_t>(map.layers) * kv * map.keys * width);
  Workspace workspace;
  add_pull(model_, pass_.values, read, workspace, maps);
  Json heads = Json::array();
  for_heads(maps, [&](AttentionKind kind, const AttentionMap& map, int layer, int head) {
    if (kind != layers_.stack && kind != AttentionKind::cross) return;
    const double* pull = map.pulls(layer, head).row(asked_.row);
    const double* g =
        map.value_gradient.data() +
        static_cast<std::ptrdiff_t>(layer * kv + head * kv / map.heads) * map.keys * width;
    Row lengths;
    for (int j = 0; j < map.keys; ++j, g += width) lengths.push_back(std::sqrt(dot(g, g, width)));
    heads.push_back({{"kind", attention_name(kind)},
                     {"layer", layer},
                     {"head", head},
                     {"pull", Row(pull, pull + map.keys)},
                     {"value_pull", lengths}});
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
