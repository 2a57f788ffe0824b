// What a part is worth, against the same model with the part's weights set to zero.
#include "show/ablation.h"

#include <gtest/gtest.h>

#include <cmath>

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

ParamVec<float> copy_of(const ParamVec<float>& values) {
  ParamVec<float> copy(values.size());
  std::copy_n(values.data(), values.size(), copy.data());
  return copy;
}

void scale(Mat<float> m, float by) {
  for (int r = 0; r < m.rows; ++r)
    for (int c = 0; c < m.cols; ++c) m(r, c) *= by;
}

const PartLoss& of(const Ablation& a, Sort sort, AttentionKind kind, int layer = -1,
                   int head = -1) {
  for (const PartLoss& p : a.parts)
    if (p.part.sort == sort && p.part.kind == kind && p.part.layer == layer && p.part.head == head)
      return p;
  throw std::out_of_range("no such part");
}

class AblationTest : public testing::Test {
 protected:
  const Transformer model_{test::tiny_config(test::Family::encoder_decoder), kIds, kIds};
  ParamVec<float> values_ = test::lively_values<float>(model_, 5);
  std::vector<Example> texts_ = some_texts(model_, 12);
  Pool pool_{1};

  Ablation ablated(bool zero = false) { return ablate(model_, values_, texts_, pool_, zero); }
};

TEST_F(AblationTest, ByZeroIsTheLossWithTheWeightsThatReadThePartSetToZero) {
  const Ablation a = ablated(true);
  EXPECT_NEAR(a.loss, loss_of(model_, values_, texts_), 1e-9);
  EXPECT_EQ(a.parts.size(), 3u + 4 + 4 + 12);  // kinds, layers, feed-forward networks, heads
  EXPECT_EQ(a.passes, 1 + 2 * 23);
  const auto check = [&](const PartLoss& p, std::initializer_list<Mat<float>> zeroed) {
    ParamVec<float> copy = copy_of(values_);
    for (const Mat<float> m : zeroed) {
      Mat<float> there = m;
      there.data = copy.data() + (m.data - values_.data());
      scale(there, 0);
    }
    EXPECT_NEAR(p.difference, loss_of(model_, copy, texts_) - a.loss, 1e-6) << p.part.name();
    EXPECT_GT(std::abs(p.difference), 1e-5) << p.part.name();
  };
  const Block& block = model_.decoder.blocks[1];
  const Mat<float> out = values_[block.cross_attention->out.weight];
  check(of(a, Sort::head, AttentionKind::cross, 1, 1), {out.col_range(4, 8)});
  check(of(a, Sort::feed_forward, AttentionKind::decoder_self, 1),
        {values_[block.feed_forward->fc2.weight], values_[block.feed_forward->fc2.bias]});
  check(of(a, Sort::attention, AttentionKind::cross),
        {out, values_[model_.decoder.blocks[0].cross_attention->out.weight]});
}

TEST_F(AblationTest, AHeadThatNothingReadsIsWorthExactlyNothing) {
  scale(values_[model_.decoder.blocks[0].self_attention.out.weight].col_range(4, 8), 0);
  const PartLoss p = of(ablated(), Sort::head, AttentionKind::decoder_self, 0, 1);
  EXPECT_EQ(p.difference, 0);
  EXPECT_EQ(p.low, 0);
  EXPECT_EQ(p.high, 0);
  EXPECT_NE(p.all_but_this, 0);
}

TEST_F(AblationTest, AConstantIsWorthNothingByItsMean) {
  // A value of which only the bias is left is the same everywhere.
  const Attention& a = model_.encoder.blocks[0].self_attention;
  scale(values_[a.in.slice(16, 8).weight], 0);
  EXPECT_NEAR(of(ablated(), Sort::head, AttentionKind::encoder_self, 0, 0).difference, 0, 1e-6);
  EXPECT_GT(std::abs(of(ablated(true), Sort::head, AttentionKind::encoder_self, 0, 0).difference),
            1e-5);
}

TEST_F(AblationTest, TheLargestIsFirstWithinItsInterval) {
  const Ablation a = ablated();
  for (std::size_t i = 0; i < a.parts.size(); ++i) {
    EXPECT_LE(a.parts[i].low, a.parts[i].difference);
    EXPECT_GE(a.parts[i].high, a.parts[i].difference);
    if (i > 0) {
      EXPECT_LE(a.parts[i].difference, a.parts[i - 1].difference);
    }
  }
  Pool three(3);
  const Ablation b = ablate(model_, values_, texts_, three, false);
  for (std::size_t i = 0; i < a.parts.size(); ++i) {
    EXPECT_EQ(a.parts[i].difference, b.parts[i].difference);
    EXPECT_EQ(a.parts[i].low, b.parts[i].low);
  }
  texts_.resize(7);
  EXPECT_TRUE(std::isnan(ablated().parts[0].low));  // too few
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
  const Ablation found = ablate(model, values, texts, pool, true);
  const double both = of(found, Sort::attention, AttentionKind::decoder_self).difference;
  EXPECT_GT(std::abs(both), 0.01);
  for (const int head : {0, 1}) {
    const PartLoss& p = of(found, Sort::head, AttentionKind::decoder_self, 0, head);
    EXPECT_LT(std::abs(p.difference), 0.02 * std::abs(both));
    EXPECT_LT(std::abs(p.all_but_this), 0.02 * std::abs(both));
  }
  const PartLoss& idle = of(found, Sort::head, AttentionKind::decoder_self, 0, 2);
  EXPECT_EQ(idle.difference, 0);
  EXPECT_EQ(idle.all_but_this, both);
}

}  // namespace
}  // namespace heed
