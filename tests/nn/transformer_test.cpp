// The gradient of whole models, and PyTorch's values.
#include "nn/transformer.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "nn/golden.h"
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
constexpr auto kEncDec = Family::encoder_decoder, kDecoder = Family::decoder_only,
               kEncoder = Family::encoder_only;

// A different ablation for each kind of attention.
AttentionKinds ablated(int turn) {
  AttentionConfig all[3];
  all[0].uniform = true;
  all[1].query = all[1].key = Projection::identity;
  all[1].value = Projection::random;
  all[2].scaled = false;
  return {all[turn % 3], all[(turn + 1) % 3], all[(turn + 2) % 3]};
}

std::vector<ModelCase> model_cases() {
  using A = Activation;
  using P = Positions;
  std::vector<ModelCase> cases = {
      {"encdec_post_relu_sin", kEncDec, kPost, A::relu, P::sinusoidal, Tie::all, 0.3, 0.1},
      {"encdec_pre_silu_rotary", kEncDec, kPre, A::silu, P::rotary, Tie::none, 0.3, 0.1},
      {"encdec_post_gelu_learned", kEncDec, kPost, A::gelu, P::learned, Tie::output, 0.3, 0.0},
      {"encdec_pre_relu_none", kEncDec, kPre, A::relu, P::none, Tie::output, 0.0, 0.1},
      {"decoder_pre_gelu_learned", kDecoder, kPre, A::gelu, P::learned, Tie::all, 0.3, 0.0},
      {"decoder_post_silu_rotary", kDecoder, kPost, A::silu, P::rotary, Tie::none, 0.0, 0.1},
      {"encoder_pre_gelu_rotary", kEncoder, kPre, A::gelu, P::rotary, Tie::all, 0.3, 0.1},
      {"encoder_post_relu_sin", kEncoder, kPost, A::relu, P::sinusoidal, Tie::none, 0.0, 0.0},
      {"ablated_0", kEncDec, kPre, A::gelu, P::sinusoidal, Tie::all, 0.3, 0.0, ablated(0)},
      {"ablated_1", kEncDec, kPre, A::gelu, P::learned, Tie::all, 0.0, 0.0, ablated(1)},
      {"ablated_2", kEncDec, kPost, A::gelu, P::none, Tie::all, 0.3, 0.0, ablated(2)}};
  for (const auto& [name, change] : test::block_variants()) {
    cases.push_back(
        {name + "_relu2", kEncDec, kPre, A::relu2, P::learned, Tie::all, 0.3, 0.1, {}, change});
    cases.push_back({name + "_gelu_tanh",
                     kDecoder,
                     kPost,
                     A::gelu_tanh,
                     P::learned,
                     Tie::all,
                     0.3,
                     0.1,
                     {},
                     change});
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Variants, WholeModelGradient, testing::ValuesIn(model_cases()),
                         [](const auto& test) { return test.param.name; });

TEST(WholeModel, ForwardOnlyGivesTheSameBitsInLessRoom) {
  for (const Family family : test::kFamilies) {
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

// The model against PyTorch's values.

using namespace test;

class GoldenModel : public testing::TestWithParam<std::string> {};

template <class T>
void check_model(const std::string& name) {
  const Golden g = read_golden(name);
  const Transformer model = g.model();
  const ParamVec<T> values = initial_golden_values<T>(g, model);
  expect_golden_logits(g, model, values, "");

  ParamVec<T> gradients(model.table.size());
  Workspace workspace;
  Pass<T> pass{.values = values, .workspace = workspace, .gradients = &gradients};
  TransformerSaved<T> saved;
  const LossSums sums =
      train_micro_batch(model, pass, g.batch, {g.smoothing(), 1.0 / g.labels}, saved);
  EXPECT_NEAR(sums.objective / g.labels, g["loss"][0], kGoldenTolerance<T> * g["loss"][0]);
  double squares = 0;
  for (std::size_t i = 0; i < gradients.size(); ++i)
    squares += static_cast<double>(gradients.data()[i]) * gradients.data()[i];
  EXPECT_NEAR(std::sqrt(squares), g["grad_norm"][0], kGoldenTolerance<T> * g["grad_norm"][0]);
  for (const ParamInfo& info : model.table.infos())
    if (is_seen(g, info.name))
      expect_golden(g, "grad." + info.name, gradients.data() + info.param.offset,
                    info.param.size());
}

TEST_P(GoldenModel, LogitsLossAndEveryGradientInDouble) {
  check_model<double>(GetParam());
}
TEST_P(GoldenModel, LogitsLossAndEveryGradientInFloat) {
  check_model<float>(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenModel, testing::ValuesIn(golden_names()),
                         [](const auto& test) { return test.param; });

TEST(GoldenFiles, AreAllThere) {
  EXPECT_GE(golden_names().size(), 13u);
}

}  // namespace
}  // namespace heed
