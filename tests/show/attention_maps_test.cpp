// Maps hold the weights that the model uses. (cli/live_test.py computes weights in other code.)
#include "show/attention_maps.h"

#include <gtest/gtest.h>

#include <cmath>

#include "nn/models.h"

namespace heed {
namespace {

// Compares every head that a forward pass in double shows with a map in float.
struct Comparison : Observer<double> {
  const ParamVec<double>& values;
  AttentionMaps maps, contributed;
  int heads = 0;

  Comparison(const ParamVec<double>& v, AttentionMaps all)
      : values(v), maps(std::move(all)), contributed(contributions(maps)) {}

  void on_head(const Attention& a, int number, const AttentionHead<double>& head) override {
    const auto kind = static_cast<std::size_t>(a.kind);
    const Mat<const double> out = values[a.out.weight];
    ++heads;
    for (int k = 0; k < head.k.rows; ++k) {
      double squares = 0;  // || v W_oᵀ ||
      for (int row = 0; row < out.rows; ++row) {
        double sum = 0;
        for (int c = 0; c < head.v.cols; ++c)
          sum += head.v(k, c) * out(row, number * head.v.cols + c);
        squares += sum * sum;
      }
      for (int q = 0; q < head.p.rows; ++q) {
        const double weight = head.p(q, k);
        EXPECT_NEAR(maps[kind].head(a.layer, number)(q, k), weight, 1e-5);
        EXPECT_NEAR(contributed[kind].head(a.layer, number)(q, k), weight * std::sqrt(squares),
                    1e-5);
      }
    }
  }
};

TEST(Maps, AreTheWeightsAndContributionsOfEveryHead) {
  for (const test::Family family : test::kFamilies)
    for (const int kv_heads : {2, 1}) {
      ModelConfig config = test::tiny_config(family);
      config.n_kv_heads = kv_heads;
      const Transformer model(config, 11, 11);
      const ParamVec<float> values = test::lively_values<float>(model, 3);
      ParamVec<double> same(values.size());
      std::copy_n(values.data(), values.size(), same.data());
      Example input;
      if (model.has_encoder()) input.source = {4, 7, 2, 9, 4};
      if (model.has_decoder()) input.target = {1, 5, 10, 3};
      Workspace workspace;
      Comparison comparison(same, attention_maps(model, values, input, workspace, true));
      Batch batch;
      batch.add(input.source, input.target);
      const test::Forward<double> run{model, same, batch, &comparison};
      EXPECT_EQ(comparison.heads, family == test::Family::encoder_decoder ? 12 : 4);
      for (const AttentionKind kind : kAttentionKinds)
        EXPECT_EQ(comparison.maps[static_cast<std::size_t>(kind)].empty(),
                  (kind != AttentionKind::decoder_self && !model.has_encoder()) ||
                      (kind != AttentionKind::encoder_self && !model.has_decoder()));
    }
}

}  // namespace
}  // namespace heed
