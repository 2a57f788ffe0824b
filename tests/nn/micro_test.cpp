// examples/micro.cpp, which uses nothing of heed, against the library: from the same weights, on
// the same lines in the same order, every gradient, and the losses of a hundred steps.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <deque>
#include <fstream>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/pool.h"
#include "nn/transformer.h"
#include "step/optimizers.h"

namespace micro {
#include "../../examples/micro.cpp"
}

namespace heed {
namespace {

ModelConfig config_of_micro() {
  ModelConfig config;
  config.d_model = micro::kD;
  config.n_heads = config.n_kv_heads = micro::kHeads;
  config.d_ff = micro::kInner;
  config.encoder_layers = config.decoder_layers = micro::kLayers;
  config.positions = Positions::sinusoidal;
  config.norm = NormPlacement::pre;
  config.norm_type = NormType::rms;
  config.norm_eps = 1e-5;
  config.activation = Activation::relu;
  config.bias = false;
  config.tie = Tie::none;
  config.dropout = config.attention_dropout = config.activation_dropout = 0;
  return config;
}

OptimizerConfig adamw_of_micro() {
  OptimizerConfig config;
  config.type = "adamw";
  config.betas = {micro::kBeta1, micro::kBeta2};
  config.eps = micro::kEps;
  config.weight_decay = micro::kDecay;
  return config;
}

struct Line {
  std::string source, target;
};

std::vector<int> ids(const std::string& text) {
  return {text.begin(), text.end()};
}

class Both : public testing::Test {
 protected:
  Both() {
    for (const micro::Weight& weight : micro::weights) by_name_[weight.name] = &weight;
    for (const ParamInfo& info : net_.table.infos()) {
      const micro::Mat& numbers = by_name_.at(info.name)->w;
      EXPECT_EQ(numbers.x.size(), info.param.size()) << info.name;
      std::copy(numbers.x.begin(), numbers.x.end(), values_.data() + info.param.offset);
    }
    EXPECT_EQ(net_.table.infos().size(), micro::weights.size());
    std::mt19937 draw(7);
    for (int i = 0; i < 800; ++i) {
      std::string digits;
      for (int more = 2 + static_cast<int>(draw() % 4); more > 0; --more)
        digits += static_cast<char>('0' + draw() % 10);
      lines_.push_back({digits, {digits.rbegin(), digits.rend()}});
    }
  }

  // Of eight lines in file order, beginning with this one: the sum of the losses of both.
  std::pair<double, double> learn(std::size_t begin) {
    double theirs = 0, tokens = 0;
    Batch batch;
    for (std::size_t i = begin; i < begin + 8; ++i) {
      const auto& [source, target] = lines_[i];
      batch.add(ids(source + micro::kEnd), ids(micro::kBegin + target), ids(target + micro::kEnd));
      tokens += static_cast<double>(target.size() + 1);
    }
    for (std::size_t i = begin; i < begin + 8; ++i)
      theirs += model_.learn(lines_[i].source, lines_[i].target, 1 / tokens);
    Pass<double> pass{.values = values_, .workspace = workspace_, .gradients = &gradients_};
    return {theirs, train_micro_batch(net_, pass, batch, {.scale = 1 / tokens}, saved_).objective};
  }

  micro::Model model_ = (micro::weights.clear(), micro::dice.seed(3), micro::Model());
  Transformer net_{config_of_micro(), micro::kVocabulary, micro::kVocabulary};
  ParamVec<double> values_{net_.table.size()}, gradients_{net_.table.size()};
  std::map<std::string, const micro::Weight*> by_name_;
  Workspace workspace_;
  TransformerSaved<double> saved_;
  std::vector<Line> lines_;
};

TEST_F(Both, HaveTheSameGradients) {
  const auto [theirs, ours] = learn(0);
  EXPECT_NEAR(theirs, ours, 1e-10);
  for (const ParamInfo& info : net_.table.infos()) {
    const std::vector<double>& theirs_of = by_name_.at(info.name)->gradient.x;
    const double* ours_of = gradients_.data() + info.param.offset;
    double largest = 0, apart = 0;
    for (std::size_t i = 0; i < theirs_of.size(); ++i) {
      largest = std::max(largest, std::abs(ours_of[i]));
      apart = std::max(apart, std::abs(ours_of[i] - theirs_of[i]));
    }
    EXPECT_GT(largest, 0) << info.name;
    EXPECT_LE(apart, 1e-10 * largest) << info.name;
  }
}

TEST_F(Both, HaveTheSameLosses) {
  Pool pool(1);
  Optimizer<double> optimizer(net_.table, adamw_of_micro());
  for (int step = 1; step <= 100; ++step) {
    const auto [theirs, ours] = learn(8 * static_cast<std::size_t>(step - 1));
    ASSERT_NEAR(theirs, ours, step <= 10 ? 1e-10 : 1e-6) << step;
    optimizer.step(pool, {.step = step, .rate = micro::kRate}, values_, gradients_);
    micro::update(step);
  }
}

}  // namespace
}  // namespace heed
