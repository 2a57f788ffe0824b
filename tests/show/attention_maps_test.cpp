// Attention maps against a slow recomputation in double.
#include "show/attention_maps.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "nn/models.h"
#include "show/attention_twin.h"

namespace heed {
namespace {

// The last: heads of keys and values.
class Maps
    : public testing::TestWithParam<std::tuple<test::Family, NormPlacement, Positions, int>> {};

TEST_P(Maps, EqualAnIndependentRecomputation) {
  const auto [family, norm, positions, kv_heads] = GetParam();
  ModelConfig config = test::tiny_config(family);
  config.norm = norm;
  config.positions = positions;
  config.n_kv_heads = kv_heads;
  const Transformer model(config, 11, 11);
  const ParamVec<float> values = test::lively_values<float>(model, 3);
  Example input;
  if (model.has_encoder()) input.source = {4, 7, 2, 9, 4};
  if (model.has_decoder()) input.target = {1, 5, 10, 3};
  Workspace workspace;
  AttentionMaps maps = attention_maps(model, values, input, workspace, true);
  AttentionMaps contributed = contributions(maps);
  test::Twin twin(model, values);
  twin.run(input);

  EXPECT_EQ(maps[0].empty(), !model.has_encoder());
  EXPECT_EQ(maps[1].empty(), !model.has_decoder());
  EXPECT_EQ(maps[2].empty(), !model.has_encoder() || !model.has_decoder());

  std::size_t compared = 0;
  for (const auto& [label, head] : twin.heads) {
    const std::string kind = label.substr(0, label.find(' '));
    const int place = kind == "encoder" ? 0 : kind == "decoder" ? 1 : 2;
    const int layer = label[kind.size() + 1] - '0', h = label[kind.size() + 3] - '0';
    for (std::size_t q = 0; q < head.weights.size(); ++q) {
      double sum = 0;
      for (std::size_t k = 0; k < head.weights[q].size(); ++k) {
        const double weight = maps[place].head(layer, h)(q, k);
        const double contribution = contributed[place].head(layer, h)(q, k);
        sum += weight;
        EXPECT_NEAR(weight, head.weights[q][k], 1e-5) << label;
        EXPECT_NEAR(contribution, head.contributions[q][k], 1e-5) << label;
        if (kind == "decoder" && k > q) {
          EXPECT_EQ(weight, 0.0);
        }
        ++compared;
      }
      EXPECT_NEAR(sum, 1.0, 1e-5);
    }
  }
  const std::size_t s = input.source.size(), t = input.target.size();
  EXPECT_EQ(compared, 4 * (s * s + t * t + s * t));  // 2 layers, 2 heads
}

INSTANTIATE_TEST_SUITE_P(
    All, Maps,
    testing::Combine(testing::Values(test::Family::encoder_decoder, test::Family::decoder_only,
                                     test::Family::encoder_only),
                     testing::Values(NormPlacement::pre, NormPlacement::post),
                     testing::Values(Positions::sinusoidal, Positions::learned, Positions::rotary),
                     testing::Values(2, 1)));

}  // namespace
}  // namespace heed
