#include "show/explain.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/format.h"
#include "base/json.h"
#include "base/std_names.h"
#include "decode/next_token.h"
#include "evaluate/comparison.h"
#include "show/ablation.h"
#include "show/pull.h"

namespace heed {
namespace {

using Row = vector<double>;

constexpr int kTopTokens = 5, kTopKeys = 3, kFewestPasses = 10;
constexpr double kTwoSeconds = 1e10;  // operations of a core of a laptop

double dot(const Row& a, const Row& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}
double mean(const Row& x) {
  return accumulate(x.begin(), x.end(), 0.0) / double(x.size());
}
Row copied(Mat<const double> x, int row = 0) {
  return {x.row(row), x.row(row) + x.cols};
}
Row operator-(Row a, const Row& b) {
  ranges::transform(a, b, a.begin(), std::minus());
  return a;
}

struct WritingHead {
  size_t part;      // in the list of shares
  double strength;  // its share, or the length of what it wrote
  Row normed;       // N of what it wrote
  const Attention* attention;
  int number;
  const AttentionHead<double>* head;
  double without = -INFINITY;  // what the answer loses
};

Json place(const char* part, Json kind = {}, Json layer = {}, Json head = {}) {
  return {{"part", part}, {"kind", kind}, {"layer", layer}, {"head", head}};
}

class Explainer {
 public:
  Explainer(const Transformer& model, const ParamVec<float>& narrow, const Prediction& prediction)
      : model_(model),
        narrow_(narrow),
        prediction_(prediction),
        stack_(model.has_decoder() ? model.decoder : model.encoder),
        saved_(model.has_decoder() ? all_saved_.decoder : all_saved_.encoder),
        pass_{.values = wide_, .workspace = workspace_} {
    Batch batch;
    batch.add(prediction.read);
    last_ = model.forward(pass_, batch, all_saved_);
    for (size_t i = 1; i <= stack_.blocks.size(); ++i) {
      logits_ = logits_of(row_before(i));
      lens_.emplace_back(logits_.begin(), logits_.end());
    }
    require_finite({lens_.back().data(), 1, int(logits_.size())});
    choose_answers();
  }

  Json result() {
    Json out{{"answer", token(answer_)},
             {"against", against_ < 0 ? Json() : token(against_)},
             {"mean_logit", mean(logits_)}};
    if (stack_.norm)
      out["norm"] = {{"type", stack_.norm->kind.type == NormType::layer ? "layer" : "rms"},
                     {"divisor", 1 / r_}};
    add_lens(out);
    find_parts();
    take_heads_away();
    out["shares"] = shares_;
    out["total"] = logits_[answer_] - (against_ < 0 ? mean(logits_) : logits_[against_]);
    out["head"] = arithmetic();
    if (!prediction_.answer.empty())
      out["pull"] =
          pulls_of_row(model_, pass_.values, asked(model_, prediction_, answer_), prediction_.row);
    return out;
  }

 private:
  // x before a layer, or after the last.
  Row row_before(size_t layer) const {
    if (layer == stack_.blocks.size())
      return copied(stack_.norm ? saved_.norm.in : last_, prediction_.row);
    const ResidualSaved<double>& first = saved_.blocks[layer].self_residual;
    return copied(stack_.norm ? first.norm.in : first.branch, prediction_.row);
  }
  // W (N(x) + beta) with the r of x, which is kept; W x with post-norm.
  Row logits_of(Row x) {
    Mat<double> y(x.data(), 1, model_.config.d_model);
    if (stack_.norm) {
      NormSaved<double> saved;
      y = stack_.norm->forward(pass_, y, saved);
      r_ = saved.stats(0, 1);
    }
    return copied(model_.output.forward(pass_, y));
  }

  void choose_answers() {
    const auto most_probable = [&](const TokenIds& of) {
      return *ranges::max_element(of, {}, [&](int id) { return logits_[id]; });
    };
    answer_ = prediction_.answer.empty()
                  ? best_tokens(lens_.back(), 1, prediction_.not_next).front().id
                  : most_probable(prediction_.answer);
    if (!prediction_.against.empty()) against_ = most_probable(prediction_.against);
    if (against_ == answer_)
      throw usage_error("--against names the answer itself.")
          .hint("another token, or --answer for another answer");
    const Mat<const double> w = pass_[model_.output.weight];
    u_ = copied(w, answer_);
    for (int k = 0; k < w.rows; ++k)
      for (int c = 0; c < w.cols; ++c)
        u_[c] -= against_ < 0 ? w(k, c) / w.rows : k == against_ ? w(k, c) : 0;
  }

  Json token(int id) const {
    return {{"id", id},
            {"logit", logits_[id]},
            {"probability", exp(scored_token(lens_.back(), id).log_probability)}};
  }

  // Also the layer from which on the answer is the most probable; null if it is not in the end.
  void add_lens(Json& out) const {
    Json lead;
    for (const vector<float>& logits : lens_) {
      TokenOdds odds = token_odds(logits, answer_, 0);
      odds.rank -= int(ranges::count_if(prediction_.not_next,
                                        [&](int id) { return logits[id] > logits[answer_]; }));
      Json top = Json::array();
      for (const ScoredToken& t : best_tokens(logits, kTopTokens, prediction_.not_next))
        top.push_back({{"id", t.id}, {"logprob", t.log_probability}});
      const size_t layer = out["lens"].size();
      out["lens"].push_back({{"layer", layer},
                             {"top", top},
                             {"rank", odds.rank},
                             {"logit", logits[answer_]},
                             {"log_sum", logits[answer_] - odds.log_probability},
                             {"probability", exp(odds.log_probability)}});
      if (odds.rank > 1 || lead.is_null()) lead = odds.rank > 1 ? Json() : Json(layer);
    }
    out["lead"] = lead;
  }

  // N(z) = r (z - mean z) g; z with post-norm
  Row normed(Row z) const {
    if (!stack_.norm) return z;
    const double m = stack_.norm->kind.type == NormType::layer ? mean(z) : 0;
    const double* g = pass_[stack_.norm->weight].data;
    for (size_t c = 0; c < z.size(); ++c) z[c] = r_ * (z[c] - m) * g[c];
    return z;
  }
  // W_O,h v: what a head adds to the row for a value or an output, [d_head].
  Row through(const Attention& a, int h, const double* v) const {
    const Mat<const double> w = pass_[a.out.weight].part(h, a.d_head());
    Row y(w.rows);
    for (int i = 0; i < w.rows; ++i) y[i] = std::inner_product(v, v + w.cols, w.row(i), 0.0);
    return y;
  }
  // Of a part whose N is `normed`.
  double share(const Row& normed) const { return stack_.norm ? dot(u_, normed) : kUnknown; }
  void add(Json part, const Row& normed) {
    part["share"] = share(normed);
    shares_.push_back(std::move(part));
  }
  void add_heads(const Attention& a, const AttentionSaved<double>& saved) {
    const char* kind = attention_name(a.kind);
    for (int h = 0; h < a.n_heads; ++h) {
      const Row wrote = normed(through(a, h, saved.heads[h].o.row(prediction_.row)));
      const double strength = abs(dot(stack_.norm ? u_ : wrote, wrote));
      heads_.push_back({shares_.size(), strength, wrote, &a, h, &saved.heads[h]});
      add(place("head", kind, a.layer, h), wrote);
    }
    if (a.out.bias.size() > 0)
      add(place("out_proj_bias", kind, a.layer), normed(copied(pass_[a.out.bias])));
  }

  void find_parts() {
    const Embedding& e =
        model_.has_decoder() ? *model_.embeddings.target : *model_.embeddings.source;
    const Example& read = prediction_.read;
    const TokenIds& ids = model_.has_decoder() ? read.target : read.source;
    Row token = copied(pass_[e.tokens], ids[prediction_.row]);
    for (double& x : token) x *= e.scale;
    add(place("embedding"), normed(token));
    if (e.kind == Positions::learned || e.kind == Positions::sinusoidal)
      add(place("positions"), normed(row_before(0) - token));
    for (size_t i = 0; i < stack_.blocks.size(); ++i) {
      const Block& block = stack_.blocks[i];
      const BlockSaved<double>& s = saved_.blocks[i];
      add_heads(block.self_attention, s.self);
      if (block.cross_attention) add_heads(*block.cross_attention, s.cross);
      if (!block.feed_forward) continue;
      const char* stack = attention_name(block.self_attention.kind);
      const Param b = block.feed_forward->fc2.bias;
      const Row bias = b.size() > 0 ? copied(pass_[b]) : Row(model_.config.d_model);
      const Row wrote =
          row_before(i + 1) - copied(s.feed_forward_residual.norm.in, prediction_.row);
      add(place("feed_forward", stack, i), normed(wrote - bias));
      if (b.size() > 0) add(place("fc2_bias", stack, i), normed(bias));
    }
    if (stack_.norm && stack_.norm->bias.size() > 0)
      add(place("norm_bias"), copied(pass_[stack_.norm->bias]));
  }

  // The strongest comes first; those without a pass come last.
  void take_heads_away() {
    const auto by = [&](double WritingHead::*of) { ranges::stable_sort(heads_, greater(), of); };
    by(&WritingHead::strength);
    const Example read = asked(model_, prediction_, answer_);
    Batch batch;
    batch.add(read);
    const double passes = 3 * kTwoSeconds / training_flops(model_, batch);
    const double loss = -scored_token(lens_.back(), answer_).log_probability;
    for (size_t i = 0; i < heads_.size() && double(i) < max<double>(kFewestPasses, passes); ++i) {
      WritingHead& h = heads_[i];
      const ModelPart part{ModelPart::heads, h.attention->kind, h.attention->layer, h.number};
      h.without = loss_without(part, {model_, narrow_}, read) - loss;
      shares_[h.part]["without"] = h.without;
    }
    by(&WritingHead::without);
  }

  // q . k, S, P and what the largest weights take; "others" is a key that stands for all others.
  Json arithmetic() {
    const WritingHead& strongest = heads_.front();
    const AttentionHead<double>& h = *strongest.head;
    const Row q = copied(h.q, prediction_.row);
    Row weights = copied(h.p, prediction_.row);
    weights.resize(h.k.rows);
    vector<int> order(weights.size());
    std::iota(order.begin(), order.end(), 0);
    ranges::stable_sort(order, greater(), [&](int j) { return weights[j]; });
    order.resize(min<size_t>(order.size(), kTopKeys));
    Json out = shares_[strongest.part];
    out.update({{"scale", h.scale},
                {"uniform", h.uniform},
                {"weights", weights},
                {"q", q},
                {"length", sqrt(dot(q, q))},
                {"output", copied(h.o, prediction_.row)}});
    for (const int j : order) {
      const Row k = copied(h.k, j);
      const Row taken = normed(through(*strongest.attention, strongest.number, h.v.row(j)));
      const double product = h.uniform ? kUnknown : dot(q, k);
      out["keys"].push_back({{"position", j},
                             {"k", k},
                             {"length", sqrt(dot(k, k))},
                             {"cosine", product / sqrt(dot(q, q) * dot(k, k))},
                             {"v", copied(h.v, j)},
                             {"dot", product},
                             {"score", product * h.scale},
                             {"weight", weights[j]},
                             {"share", weights[j] * share(taken)}});
    }
    const double log_sum = out["keys"][0]["score"].get<double>() - std::log(weights[order[0]]);
    out["log_sum"] = log_sum;
    for (const int j : order) weights[j] = 0;
    const double left = accumulate(weights.begin(), weights.end(), 0.0);
    Row v(h.v.cols);
    for (int j = 0; j < h.v.rows; ++j)
      for (int c = 0; c < h.v.cols; ++c) v[c] += weights[j] / left * h.v(j, c);
    if (left > 0) out["others"] = {{"v", v}, {"score", log_sum + std::log(left)}, {"weight", left}};
    const Mat<const double> wrote(strongest.normed.data(), 1, model_.config.d_model);
    const Row logits = copied(model_.output.forward(pass_, wrote));
    const vector<float> narrow(logits.begin(), logits.end());
    for (const ScoredToken& t : best_tokens(narrow, kTopTokens, {}))
      out["promotes"].push_back({{"id", t.id}, {"logit", logits[t.id] - mean(logits)}});
    return out;
  }

  const Transformer& model_;
  const ParamVec<float>& narrow_;
  const ParamVec<double> wide_ = copy_as<double>(narrow_);
  const Prediction& prediction_;
  const Stack& stack_;
  Workspace workspace_;
  TransformerSaved<double> all_saved_;
  const StackSaved<double>& saved_;
  Pass<double> pass_;
  Mat<const double> last_;      // what the model gives
  vector<vector<float>> lens_;  // logits after each layer
  Row logits_;                  // after the last
  Row u_;                       // what shares are measured along
  vector<Json> shares_;
  vector<WritingHead> heads_;
  double r_ = 1;
  int answer_ = 0, against_ = -1;
};

}  // namespace

Example asked(const Transformer& model, const Prediction& prediction, int answer) {
  Example read = prediction.read;
  read.labels.assign((model.has_decoder() ? read.target : read.source).size(), -1);
  read.labels[prediction.row] = answer;
  return read;
}

Json explain(const Transformer& model, const ParamVec<float>& values,
             const Prediction& prediction) {
  return Explainer(model, values, prediction).result();
}

}  // namespace heed
