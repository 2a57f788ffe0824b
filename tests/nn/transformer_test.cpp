// The gradient of whole models; what they can see and what they cannot.
#include "nn/transformer.h"

#include <gtest/gtest.h>

#include <set>

#include "base/json.h"
#include "nn/models.h"
#include "show/gradient_check.h"

namespace heed {
namespace {

using test::Family;

struct ModelCase {
  std::string name;
  Family family;
  NormPlacement norm;
  Activation activation;
  Positions positions;
  Tie tie;
  double dropout;
  double smoothing;
  AttentionKinds attention = {};
  test::Change change = test::no_change;
};

void PrintTo(const ModelCase& c, std::ostream* out) {
  *out << c.name;
}

class WholeModelGradient : public testing::TestWithParam<ModelCase> {};

TEST_P(WholeModelGradient, EqualsCentralDifferences) {
  const ModelCase& c = GetParam();
  ModelConfig config = test::tiny_config(c.family);
  config.norm = c.norm;
  config.activation = c.activation;
  config.positions = c.positions;
  config.tie = c.tie;
  config.attention = c.attention;
  config.dropout = config.attention_dropout = config.activation_dropout = c.dropout;
  c.change(config);
  const Transformer model(config, c.tie == Tie::all ? 7 : 6, 7);
  const Batch batch = test::tiny_batch(model, c.dropout > 0);
  std::uint64_t seed = 1;
  ParamVec<double> values = test::lively_values<double>(model, seed);
  while (smallest_relu_input(model, values, batch) < 10 * kGradientStep)
    values = test::lively_values<double>(model, ++seed);
  for (const Json& t : check_gradients(model, values, batch, c.smoothing))
    EXPECT_LE(t["worst_error"], kGradientTolerance) << t;
}

constexpr auto kPre = NormPlacement::pre, kPost = NormPlacement::post;

INSTANTIATE_TEST_SUITE_P(
    Variants, WholeModelGradient,
    testing::Values(ModelCase{"encdec_post_relu_sin_dropout", Family::encoder_decoder, kPost,
                              Activation::relu, Positions::sinusoidal, Tie::all, 0.3, 0.1},
                    ModelCase{"encdec_pre_silu_rotary_dropout", Family::encoder_decoder, kPre,
                              Activation::silu, Positions::rotary, Tie::none, 0.3, 0.1},
                    ModelCase{"encdec_post_gelu_learned", Family::encoder_decoder, kPost,
                              Activation::gelu, Positions::learned, Tie::output, 0.3, 0.0},
                    ModelCase{"encdec_pre_relu_none", Family::encoder_decoder, kPre,
                              Activation::relu, Positions::none, Tie::output, 0.0, 0.1},
                    ModelCase{"decoder_pre_gelu_learned", Family::decoder_only, kPre,
                              Activation::gelu, Positions::learned, Tie::all, 0.3, 0.0},
                    ModelCase{"decoder_post_silu_rotary", Family::decoder_only, kPost,
                              Activation::silu, Positions::rotary, Tie::none, 0.0, 0.1},
                    ModelCase{"encoder_pre_gelu_rotary", Family::encoder_only, kPre,
                              Activation::gelu, Positions::rotary, Tie::all, 0.3, 0.1},
                    ModelCase{"encoder_post_relu_sin", Family::encoder_only, kPost,
                              Activation::relu, Positions::sinusoidal, Tie::none, 0.0, 0.0}),
    [](const auto& test) { return test.param.name; });

std::vector<ModelCase> block_cases() {
  std::vector<ModelCase> cases;
  for (const auto& [name, change] : test::block_variants())
    for (const Activation f : {Activation::relu2, Activation::gelu_tanh})
      cases.push_back({name + (f == Activation::relu2 ? "_relu2" : "_gelu_tanh"),
                       f == Activation::relu2 ? Family::encoder_decoder : Family::decoder_only,
                       f == Activation::relu2 ? kPre : kPost,
                       f,
                       Positions::learned,
                       Tie::all,
                       0.3,
                       0.1,
                       {},
                       change});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Blocks, WholeModelGradient, testing::ValuesIn(block_cases()),
                         [](const auto& test) { return test.param.name; });

// A different ablation for each kind of attention.
AttentionKinds ablated(int turn) {
  AttentionConfig all[3];
  all[0].uniform = true;
  all[1].query = all[1].key = Projection::identity;
  all[1].value = Projection::random;
  all[2].scaled = false;
  return {all[turn % 3], all[(turn + 1) % 3], all[(turn + 2) % 3]};
}

INSTANTIATE_TEST_SUITE_P(
    Ablations, WholeModelGradient,
    testing::Values(ModelCase{"first", Family::encoder_decoder, kPre, Activation::gelu,
                              Positions::sinusoidal, Tie::all, 0.3, 0.0, ablated(0)},
                    ModelCase{"second", Family::encoder_decoder, kPre, Activation::gelu,
                              Positions::learned, Tie::all, 0.0, 0.0, ablated(1)},
                    ModelCase{"third", Family::encoder_decoder, kPost, Activation::gelu,
                              Positions::none, Tie::all, 0.3, 0.0, ablated(2)}),
    [](const auto& test) { return test.param.name; });

// ---- what rows see ----

Transformer model_of(Family family, Positions positions) {
  ModelConfig config = test::tiny_config(family);
  config.positions = positions;
  return Transformer(config, 7, 7);
}

// Hidden rows of one sequence per side.
std::vector<double> hidden_rows(const Transformer& model, const std::vector<int>& source,
                                const std::vector<int>& target) {
  const ParamVec<double> values = test::lively_values<double>(model, 2);
  Batch batch;
  batch.add(model.has_encoder() ? source : std::vector<int>{},
            model.has_decoder() ? target : std::vector<int>{});
  Workspace workspace;
  Pass<double> pass{.values = values, .workspace = workspace};
  TransformerSaved<double> saved;
  const Mat<double> h = model.forward(pass, batch, saved);
  return {h.data, h.data + h.rows * h.cols};
}

// Rows of a that differ from b's.
std::set<int> changed_rows(const std::vector<double>& a, const std::vector<double>& b) {
  std::set<int> rows;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (std::abs(a[i] - b[i]) > 1e-9) rows.insert(static_cast<int>(i / 8));
  return rows;
}

TEST(WhatRowsSee, ADecoderSeesNoLaterTokens) {
  for (Positions p : {Positions::sinusoidal, Positions::rotary, Positions::none}) {
    const Transformer model = model_of(Family::decoder_only, p);
    const auto before = hidden_rows(model, {}, {1, 2, 3, 4, 5});
    EXPECT_EQ(changed_rows(before, hidden_rows(model, {}, {1, 2, 6, 4, 5})),
              (std::set<int>{2, 3, 4}));
    EXPECT_EQ(changed_rows(before, hidden_rows(model, {}, {1, 2, 3, 4, 6})), (std::set<int>{4}));
  }
}

TEST(WhatRowsSee, AnEncoderSeesEverything) {
  const Transformer model = model_of(Family::encoder_only, Positions::learned);
  EXPECT_EQ(
      changed_rows(hidden_rows(model, {1, 2, 3, 4}, {}), hidden_rows(model, {1, 2, 6, 4}, {})),
      (std::set<int>{0, 1, 2, 3}));
}

TEST(WhatRowsSee, EveryDecoderRowSeesTheWholeSource) {
  const Transformer model = model_of(Family::encoder_decoder, Positions::sinusoidal);
  EXPECT_EQ(
      changed_rows(hidden_rows(model, {1, 2, 3}, {1, 2}), hidden_rows(model, {1, 2, 6}, {1, 2})),
      (std::set<int>{0, 1}));
}

TEST(WhatRowsSee, OrderMattersOnlyWithPositions) {
  for (Positions p :
       {Positions::sinusoidal, Positions::learned, Positions::rotary, Positions::none}) {
    const Transformer model = model_of(Family::encoder_only, p);
    const auto a = hidden_rows(model, {1, 2, 3}, {}), b = hidden_rows(model, {2, 1, 3}, {});
    EXPECT_EQ(changed_rows(a, b).contains(2), p != Positions::none);
  }
}

TEST(WholeModel, ForwardOnlyGivesTheSameBitsInLessRoom) {
  for (const Family family :
       {Family::encoder_decoder, Family::decoder_only, Family::encoder_only}) {
    ModelConfig config = test::tiny_config(family);
    config.encoder_layers *= 3;
    config.decoder_layers *= 3;
    config.positions = Positions::rotary;
    const Transformer model(config, 6, 7);
    const ParamVec<float> values = test::lively_values<float>(model, 1);
    const Batch batch = test::tiny_batch(model, false);
    const auto run = [&](bool forward_only, std::vector<float>& out) {
      Workspace workspace;
      Pass<float> pass{.values = values, .workspace = workspace, .forward_only = forward_only};
      TransformerSaved<float> saved;
      const Mat<float> hidden = model.forward(pass, batch, saved);
      out.assign(hidden.data, hidden.data + hidden.rows * hidden.cols);
      return workspace.mark().used;
    };
    std::vector<float> kept, alone;
    const std::size_t all = run(false, kept), less = run(true, alone);
    EXPECT_EQ(kept, alone);
    EXPECT_LT(3 * less, all);
  }
}

}  // namespace
}  // namespace heed
