#include "nn/transformer.h"

#include <gtest/gtest.h>

#include <tuple>

#include "inspect/gradient_check.h"
#include "nn/models.h"

namespace heed {
namespace {

using test::Family;

struct Case {
  const char* name;
  Family family;
  NormPlacement norm;
  Activation activation;
  Positions positions;
  Tie tie;
  double dropout;
  double smoothing;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

class WholeModelGradient : public testing::TestWithParam<Case> {};

TEST_P(WholeModelGradient, EqualsCentralDifferences) {
  const Case& c = GetParam();
  ModelConfig config = test::tiny_config(c.family);
  config.norm = c.norm;
  config.activation = c.activation;
  config.positions = c.positions;
  config.tie = c.tie;
  config.dropout = config.attention_dropout = c.dropout;
  const Transformer model(config, c.tie == Tie::all ? 7 : 6, 7);
  const Batch batch = test::tiny_batch(model, c.dropout > 0);
  std::uint64_t seed = 1;
  ParamVec<double> values = test::lively_values<double>(model, seed);
  while (smallest_relu_input(model, values, batch) < 10 * kGradientStep)
    values = test::lively_values<double>(model, ++seed);
  for (const TensorCheck& t : check_gradients(model, values, batch, c.smoothing))
    EXPECT_LE(t.worst, kGradientTolerance) << t.name << "[" << t.worst_entry << "]: analytic "
                                           << t.analytic << ", numeric " << t.numeric;
}

constexpr auto kPre = NormPlacement::pre, kPost = NormPlacement::post;
INSTANTIATE_TEST_SUITE_P(
    Families, WholeModelGradient,
    testing::Values(Case{"encdec_pre_gelu_sin", Family::encoder_decoder, kPre, Activation::gelu,
                         Positions::sinusoidal, Tie::all, 0.0, 0.0},
                    Case{"encdec_post_relu_sin_dropout", Family::encoder_decoder, kPost,
                         Activation::relu, Positions::sinusoidal, Tie::all, 0.3, 0.1},
                    Case{"encdec_pre_silu_rotary_dropout", Family::encoder_decoder, kPre,
                         Activation::silu, Positions::rotary, Tie::none, 0.3, 0.1},
                    Case{"encdec_post_gelu_learned", Family::encoder_decoder, kPost,
                         Activation::gelu, Positions::learned, Tie::output, 0.3, 0.0},
                    Case{"encdec_pre_relu_none", Family::encoder_decoder, kPre, Activation::relu,
                         Positions::none, Tie::output, 0.0, 0.1},
                    Case{"decoder_pre_gelu_learned", Family::decoder_only, kPre, Activation::gelu,
                         Positions::learned, Tie::all, 0.3, 0.0},
                    Case{"decoder_post_silu_rotary", Family::decoder_only, kPost, Activation::silu,
                         Positions::rotary, Tie::none, 0.0, 0.1},
                    Case{"encoder_pre_gelu_rotary", Family::encoder_only, kPre, Activation::gelu,
                         Positions::rotary, Tie::all, 0.3, 0.1},
                    Case{"encoder_post_relu_sin", Family::encoder_only, kPost, Activation::relu,
                         Positions::sinusoidal, Tie::none, 0.0, 0.0}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace heed
