// Shares and the pull of values against central differences, in double; the rest against attention
// maps.
#include "show/explain.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "nn/models.h"
#include "show/attention_maps.h"
#include "show/gradient_check.h"

namespace heed {
namespace {

std::map<std::string, test::Change> explained_variants() {
  auto variants = test::block_variants();
  return {{"plain", test::no_change},
          {"attention_only", variants["attention_only"]},
          {"modern_rotary", variants["modern_rotary"]},
          {"untied", [](ModelConfig& c) {
             c.positions = Positions::learned;
             c.tie = Tie::none;
             c.attention.cross.scaled = c.attention.encoder_self.scaled = false;
             c.attention.decoder_self.uniform = true;
           }}};
}

Prediction prediction_of(const Transformer& model) {
  Prediction prediction;
  if (model.has_encoder()) prediction.read.source = {4, 7, 2, 9, 4};
  if (model.has_decoder()) prediction.read.target = {1, 5, 10, 3};
  prediction.row = model.has_decoder() ? 3 : 2;
  return prediction;
}

// Scales what heads and feed-forward networks give; moves values.
struct Meddler : Observer<double> {
  std::string part;
  AttentionKind kind{};
  int layer = 0, head = 0, heads = 1, j = 0, c = 0;
  double step = 0;

  void on_head(const Attention& a, int number, const AttentionHead<double>& h) override {
    if (a.kind != kind || a.layer != layer) return;
    if (part == "head" && number == head) scale(h.o);
    if (part == "value" && number / heads == head)  // `heads` share it
      for (int i = 0; i < h.o.rows; ++i) h.o(i, c) += step * h.p(i, j);
  }
  void on_feed_forward(AttentionKind of, int at, Mat<double> y) override {
    if (part == "feed_forward" && of == kind && at == layer) scale(y);
  }
  void scale(Mat<double> x) const {
    for (int r = 0; r < x.rows; ++r)
      for (int k = 0; k < x.cols; ++k) x(r, k) *= 1 + step;
  }
};

class Explain : public testing::TestWithParam<test::ModelVariant> {
 protected:
  Explain()
      : model(config(), 11, 11),
        narrow(test::lively_values<float>(model, 3)),
        values(narrow.size()),
        still(narrow.size()),
        prediction(prediction_of(model)) {
    std::copy_n(narrow.data(), narrow.size(), values.data());
    std::copy_n(narrow.data(), narrow.size(), still.data());
    batch.add(prediction.read.source, prediction.read.target);
  }

  static ModelConfig config() {
    ModelConfig config = test::tiny_config(GetParam().family);
    config.activation = Activation::gelu;
    GetParam().change(config);
    return config;
  }
  const Stack& stack() const { return model.has_decoder() ? model.decoder : model.encoder; }

  // The row of what follows a branch: 0 self-attention, 1 cross-attention, 2 feed-forward; -1: what
  // the first layer reads.
  std::vector<double> after(int layer, int branch) {
    const test::Forward<double> run{model, values, batch, &meddler};
    const StackSaved<double>& s = model.has_decoder() ? run.saved.decoder : run.saved.encoder;
    const Block& block = stack().blocks[layer];
    Mat<const double> x =
        (layer + 1 < std::ssize(s.blocks) ? s.blocks[layer + 1].self_residual.norm : s.norm).in;
    if (branch < 2 && block.feed_forward) x = s.blocks[layer].feed_forward_residual.norm.in;
    if (branch < 1 && block.cross_attention) x = s.blocks[layer].cross_residual.norm.in;
    if (branch < 0) x = s.blocks[0].self_residual.norm.in;
    return {x.row(prediction.row), x.row(prediction.row) + x.cols};
  }

  // -ln of the probability of token 8 in the row.
  double loss_of_8() {
    test::Forward<double> run{model, values, batch, &meddler};
    std::vector<int> labels(run.hidden.rows, -1);
    labels[prediction.row] = 8;
    return loss(run.pass, model.output, run.hidden, labels).nll;
  }

  // The contrast of the answers, with the last norm's deviation as it is without any change.
  double frozen(const std::vector<double>& x, const Json& e) const {
    const Norm& norm = *stack().norm;
    const auto mean = [](const std::vector<double>& of) {
      return std::accumulate(of.begin(), of.end(), 0.0) / static_cast<double>(of.size());
    };
    const bool rms = norm.kind.type == NormType::rms;
    double squares = 0;
    for (const double v : last) squares += std::pow(v - (rms ? 0 : mean(last)), 2);
    const double deviation = std::sqrt(squares / static_cast<double>(last.size()) + norm.kind.eps);
    std::vector<double> logits;
    const Mat<const double> w = still[model.output.weight];
    for (int k = 0; k < w.rows; ++k) {
      double logit = 0;
      for (int c = 0; c < w.cols; ++c) {
        const double y = (x[c] - (rms ? 0 : mean(x))) / deviation * values[norm.weight](0, c) +
                         (norm.bias.size() > 0 ? values[norm.bias](0, c) : 0);
        logit += w(k, c) * y;
      }
      logits.push_back(logit);
    }
    const double answer = logits[e["answer"]["id"].get<std::size_t>()];
    return answer -
           (e["against"].is_null() ? mean(logits) : logits[e["against"]["id"].get<std::size_t>()]);
  }

  // How the contrast changes with `x`, which changes what follows a branch.
  double slope(double& x, int layer, int branch, const Json& e) {
    const std::vector<double> start = after(layer, branch);
    return central_difference(x, [&] {
      std::vector<double> moved = after(layer, branch);
      for (std::size_t c = 0; c < moved.size(); ++c) moved[c] += last[c] - start[c];
      return frozen(moved, e);
    });
  }
  // The same for numbers that are scaled together.
  double slope_of(Mat<double> numbers, int layer, int branch, const Json& e) {
    double sum = 0;
    for (int c = 0; c < numbers.cols; ++c)
      sum += numbers(0, c) * slope(numbers(0, c), layer, branch, e);
    return sum;
  }

  double expected(const Json& row, const Json& e) {
    const std::string part = row["part"];
    const Embedding& table =
        *(model.has_decoder() ? model.embeddings.target : model.embeddings.source);
    const int id =
        (model.has_decoder() ? prediction.read.target : prediction.read.source)[prediction.row];
    if (part == "embedding") return slope_of(values[table.tokens].row_range(id, id + 1), 0, -1, e);
    if (part == "positions" && table.kind == Positions::learned)
      return slope_of(values[table.positions].row_range(prediction.row, prediction.row + 1), 0, -1,
                      e);
    if (part == "norm_bias") {
      const Mat<double> bias = values[stack().norm->bias];
      double sum = 0;
      for (int c = 0; c < bias.cols; ++c)
        sum += bias(0, c) * central_difference(bias(0, c), [&] { return frozen(last, e); });
      return sum;
    }
    if (part == "positions") return std::nan("");  // a constant: the sum of all checks it
    const int layer = row["layer"];
    const bool cross = row["kind"] == "cross";
    const Block& block = stack().blocks[layer];
    const Attention& a = cross ? *block.cross_attention : block.self_attention;
    if (part == "out_proj_bias") return slope_of(values[a.out.bias], layer, cross, e);
    if (part == "fc2_bias") return slope_of(values[block.feed_forward->fc2.bias], layer, 2, e);
    meddler.part = part;
    meddler.kind = part == "head" ? a.kind : block.self_attention.kind;
    meddler.layer = layer;
    if (part == "head") meddler.head = row["head"];
    const double found = slope(meddler.step, layer, part == "head" ? cross : 2, e);
    meddler.part.clear();
    if (part == "feed_forward" && block.feed_forward->fc2.bias.size() > 0)
      return found - slope_of(values[block.feed_forward->fc2.bias], layer, 2, e);
    return found;
  }

  Transformer model;
  ParamVec<float> narrow;
  ParamVec<double> values, still;  // moved, and not (the output layer may be an embedding)
  Prediction prediction;
  Batch batch;
  Meddler meddler;
  std::vector<double> last;  // the last layer's row
};

TEST_P(Explain, SharesAreCentralDifferencesWithTheLastDeviationFrozen) {
  last = after(1, 2);
  for (const TokenIds& against : {TokenIds{}, TokenIds{6}}) {
    prediction.answer = {8};
    prediction.against = against;
    const Json e = explain(model, narrow, prediction);
    double sum = 0;
    std::size_t heads = 0;
    for (const Json& row : e["shares"]) {
      const double share = row["share"], other = expected(row, e);
      if (!std::isnan(other)) {
        EXPECT_NEAR(share, other, 1e-8) << row;
      }
      sum += share;
      heads += row["part"] == "head";
    }
    EXPECT_EQ(heads, stack().blocks.size() * model.config.n_heads *
                         (GetParam().family == test::Family::encoder_decoder ? 2 : 1));
    EXPECT_NEAR(sum, e["total"], 1e-9);
    EXPECT_NEAR(sum, frozen(last, e), 1e-9);
    double mean = 0, squares = 0;
    for (const double x : last) mean += e["norm"]["type"] == "layer" ? x / last.size() : 0;
    for (const double x : last) squares += (x - mean) * (x - mean) / last.size();
    EXPECT_NEAR(e["norm"]["divisor"], std::sqrt(squares + model.config.norm_eps), 1e-9);
    const double other = against.empty() ? e["mean_logit"] : e["against"]["logit"];
    EXPECT_NEAR(sum, e["answer"]["logit"].get<double>() - other, 1e-9);
  }
}

TEST_P(Explain, TheAnswerLosesWhatItLosesIfTheHeadGivesZero) {
  prediction.answer = {8};
  const Json e = explain(model, narrow, prediction);
  const double whole = loss_of_8();
  double most = -1;
  meddler.part = "head";
  meddler.step = -1;
  for (const Json& row : e["shares"]) {
    ASSERT_EQ(row.contains("without"), row["part"] == "head");
    if (!row.contains("without")) continue;
    for (const AttentionKind kind : kAttentionKinds)
      if (row["kind"] == attention_name(kind)) meddler.kind = kind;
    meddler.layer = row["layer"];
    meddler.head = row["head"];
    EXPECT_NEAR(row["without"], loss_of_8() - whole, 1e-5) << row;
    most = std::max<double>(most, row["without"]);
  }
  EXPECT_EQ(e["head"]["without"], most);
}

TEST_P(Explain, ThePullOfValuesIsThatOfCentralDifferences) {
  prediction.answer = {8};
  const Json e = explain(model, narrow, prediction);
  meddler.part = "value";
  const int kv = kv_heads(model.config);
  meddler.heads = model.config.n_heads / kv;
  ASSERT_EQ(e["pull"].size(), stack().blocks.size() * model.config.n_heads *
                                  (GetParam().family == test::Family::encoder_decoder ? 2 : 1));
  for (const Json& h : e["pull"]) {
    for (const AttentionKind kind : kAttentionKinds)
      if (h["kind"] == attention_name(kind)) meddler.kind = kind;
    meddler.layer = h["layer"];
    meddler.head = h["head"].get<int>() / meddler.heads;
    double sum = 0;
    for (meddler.j = 0; meddler.j < std::ssize(h["value_pull"]); ++meddler.j) {
      double squares = 0;
      for (meddler.c = 0; meddler.c < model.config.d_model / model.config.n_heads; ++meddler.c)
        squares += std::pow(central_difference(meddler.step, [&] { return loss_of_8(); }), 2);
      EXPECT_NEAR(h["value_pull"][meddler.j], std::sqrt(squares), 1e-8) << h;
      sum += h["pull"][meddler.j].get<double>();
    }
    EXPECT_NEAR(sum, 0, 1e-12);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Explain,
                         testing::ValuesIn(test::of_every_family(explained_variants())),
                         [](const auto& test) { return test.param.name; });

TEST(ExplainAnswers, TakesTheMostProbableOfSeveralIds) {
  const Transformer model(test::tiny_config(test::Family::decoder_only), 11, 11);
  const ParamVec<float> values = test::lively_values<float>(model, 3);
  Prediction prediction = prediction_of(model);
  const int best = explain(model, values, prediction)["answer"]["id"];
  prediction.answer = {best == 4 ? 5 : 4, best};
  EXPECT_EQ(explain(model, values, prediction)["answer"]["id"], best);
  prediction.against = {best};
  EXPECT_THROW(explain(model, values, prediction), Error);
}

}  // namespace
}  // namespace heed
