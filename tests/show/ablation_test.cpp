// What a part is worth, against the same model with the part's weights set to zero.
#include "show/ablation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "evaluate/scorer.h"
#include "nn/models.h"

namespace heed {
namespace {

constexpr int kIds = 11;

std::vector<Example> some_texts(const Transformer& model, int n) {
  std::vector<Example> texts;
  for (int i = 0; i < n; ++i) {
    Example& e = texts.emplace_back();
    for (int j = 0; j < 6 + i % 4; ++j) {
      const auto id = [&](std::uint64_t side) {
        return static_cast<int>(combine(side, 100 * i + j) % kIds);
      };
      if (model.has_encoder()) e.source.push_back(id(1));
      if (model.has_decoder()) e.target.push_back(id(2));
      e.labels.push_back(id(3));
    }
  }
  return texts;
}

double loss_of(const Transformer& model, const ParamVec<float>& values,
               const std::vector<Example>& texts) {
  Pool pool(1);
  const ExampleList list{std::ssize(texts), [&](std::int64_t i, Example& out) { out = texts[i]; }};
  return evaluate({model, values}, list, pool).loss();
}

void scale(Mat<float> m, float by) {
  for (int r = 0; r < m.rows; ++r)
    for (int c = 0; c < m.cols; ++c) m(r, c) *= by;
}

const Json& of(const Json& ablation, const std::string& name) {
  return *std::ranges::find_if(ablation["parts"], [&](const Json& p) { return p["name"] == name; });
}

class AblationTest : public testing::Test {
 protected:
  const Transformer model_{test::tiny_config(test::Family::encoder_decoder), kIds, kIds};
  ParamVec<float> values_ = test::lively_values<float>(model_, 5);
  std::vector<Example> texts_ = some_texts(model_, 12);
  Pool pool_{1};

  Json ablated(bool zero = false) { return ablate(model_, values_, texts_, pool_, zero); }
};

TEST_F(AblationTest, ByZeroIsTheLossWithTheWeightsThatReadThePartSetToZero) {
  const Json a = ablated(true);
  EXPECT_NEAR(a["loss"], loss_of(model_, values_, texts_), 1e-9);
  EXPECT_EQ(a["parts"].size(), 3u + 4 + 4 + 12);  // kinds, layers, feed-forward networks, heads
  EXPECT_EQ(a["passes"], 1 + 2 * 23);
  const auto check = [&](const char* name, std::initializer_list<Mat<float>> zeroed) {
    ParamVec<float> copy = copy_as<float>(values_);
    for (const Mat<float> m : zeroed) {
      Mat<float> there = m;
      there.data = copy.data() + (m.data - values_.data());
      scale(there, 0);
    }
    const double difference = of(a, name)["difference"];
    EXPECT_NEAR(difference, loss_of(model_, copy, texts_) - a["loss"].get<double>(), 1e-6) << name;
    EXPECT_GT(std::abs(difference), 1e-5) << name;
  };
  const Block& block = model_.decoder.blocks[1];
  const Mat<float> out = values_[block.cross_attention->out.weight];
  check("cross, layer 1, head 1", {out.col_range(4, 8)});
  check("decoder, layer 1, feed-forward",
        {values_[block.feed_forward->fc2.weight], values_[block.feed_forward->fc2.bias]});
  check("cross, all heads", {out, values_[model_.decoder.blocks[0].cross_attention->out.weight]});
}

TEST_F(AblationTest, AHeadThatNothingReadsIsWorthExactlyNothing) {
  scale(values_[model_.decoder.blocks[0].self_attention.out.weight].col_range(4, 8), 0);
  const Json a = ablated(), p = of(a, "decoder, layer 0, head 1");
  for (const char* zero : {"difference", "low", "high"}) EXPECT_EQ(p[zero], 0);
  EXPECT_NE(p["all_but_this"], 0);
}

TEST_F(AblationTest, AConstantIsWorthNothingByItsMean) {
  // A value of which only the bias is left is the same everywhere.
  const Attention& a = model_.encoder.blocks[0].self_attention;
  scale(values_[a.in.slice(16, 8).weight], 0);
  const auto worth = [&](bool zero) -> double {
    return of(ablated(zero), "encoder, layer 0, head 0")["difference"];
  };
  EXPECT_NEAR(worth(false), 0, 1e-6);
  EXPECT_GT(std::abs(worth(true)), 1e-5);
}

TEST_F(AblationTest, WhatAPartIsWorthIsWithinItsInterval) {
  const Json a = ablated();
  for (const Json& part : a["parts"]) {
    EXPECT_LE(part["low"], part["difference"]);
    EXPECT_GE(part["high"], part["difference"]);
  }
}

// The norm after them divides by their length: one of two large equal heads is as good as both.
TEST(EqualHeads, DoNotMatterAloneButTogether) {
  ModelConfig config = test::tiny_config(test::Family::decoder_only);
  config.d_model = 12;
  config.n_heads = 3;
  config.decoder_layers = 1;
  config.feed_forward = FeedForwardType::none;
  const Transformer model(config, kIds, kIds);
  ParamVec<float> values = test::lively_values<float>(model, 5);
  const Attention& a = model.decoder.blocks[0].self_attention;
  for (const int first : {0, 12, 24})  // q, k, v
    for (int r = 0; r < 4; ++r) {
      const Mat<float> w = values[a.in.weight], b = values[a.in.bias];
      std::copy_n(w.row(first + r), 12, w.row(first + 4 + r));
      b(0, first + 4 + r) = b(0, first + r);
    }
  const Mat<float> out = values[a.out.weight];
  scale(out, 0);
  for (int c = 0; c < 4; ++c) out(c, c) = out(c, 4 + c) = 3000;
  const std::vector<Example> texts = some_texts(model, 12);
  Pool pool(1);
  const Json found = ablate(model, values, texts, pool, true);
  const double both = of(found, "decoder, all heads")["difference"];
  EXPECT_GT(std::abs(both), 0.01);
  for (const char* name : {"decoder, layer 0, head 0", "decoder, layer 0, head 1"})
    for (const char* key : {"difference", "all_but_this"})
      EXPECT_LT(std::abs(of(found, name)[key].get<double>()), 0.02 * std::abs(both));
  const Json idle = of(found, "decoder, layer 0, head 2");
  EXPECT_EQ(idle["difference"], 0);
  EXPECT_EQ(idle["all_but_this"], both);
}

}  // namespace
}  // namespace heed
