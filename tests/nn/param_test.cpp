// Initial values, and what ablations do to them.
#include "nn/param.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "nn/models.h"

namespace heed {
namespace {

std::map<std::string, std::vector<double>> initial(const Transformer& model, std::uint64_t seed) {
  ParamVec<double> values(model.table.size());
  initialize(model.table, seed, values);
  std::map<std::string, std::vector<double>> tensors;
  for (const ParamInfo& info : model.table.infos()) {
    const double* p = values.data() + info.param.offset;
    tensors[info.name].assign(p, p + info.param.size());
  }
  return tensors;
}

ModelConfig wide(test::Family family) {
  ModelConfig c = test::tiny_config(family);
  c.d_model = 64;
  c.d_ff = 128;
  return c;
}

double deviation(const std::vector<double>& v) {
  double squares = 0;
  for (double x : v) squares += x * x;
  return std::sqrt(squares / static_cast<double>(v.size()));
}

TEST(InitialValues, DependOnSeedAndNameAlone) {
  ModelConfig config = wide(test::Family::encoder_decoder);
  const auto a = initial(Transformer(config, 9, 9), 1),
             again = initial(Transformer(config, 9, 9), 1);
  EXPECT_EQ(a, again);
  const auto other_seed = initial(Transformer(config, 9, 9), 2);
  const std::string name = "decoder.layers.1.fc1.weight";
  EXPECT_NE(a.at(name), other_seed.at(name));
  config.encoder_layers = 1;  // the tensor moves in the array, its values stay
  EXPECT_EQ(initial(Transformer(config, 9, 9), 1).at(name), a.at(name));
  EXPECT_NE(a.at(name), a.at("decoder.layers.0.fc1.weight"));
}

TEST(InitialValues, XavierUniformAndNeutralNorms) {
  const auto t = initial(Transformer(wide(test::Family::decoder_only), 50, 50), 1);
  for (double g : t.at("decoder.layers.0.ffn_norm.weight")) EXPECT_EQ(g, 1);
  for (double b : t.at("decoder.layers.0.ffn_norm.bias")) EXPECT_EQ(b, 0);
  for (double b : t.at("decoder.layers.0.fc1.bias")) EXPECT_EQ(b, 0);
  const double bound = std::sqrt(6.0 / (64 + 128));
  for (double w : t.at("decoder.layers.0.fc1.weight")) EXPECT_LT(std::abs(w), bound);
  EXPECT_NEAR(deviation(t.at("decoder.layers.0.fc1.weight")), bound / std::sqrt(3.0), 0.02 * bound);
  const double bound_qkv = std::sqrt(6.0 / 128);
  for (const char* part : {"q", "k", "v", "out"}) {
    const auto& w = t.at(std::string("decoder.layers.0.self_attn.") + part + "_proj.weight");
    EXPECT_NEAR(deviation(w), bound_qkv / std::sqrt(3.0), 0.03 * bound_qkv) << part;
  }
  EXPECT_NEAR(deviation(t.at("embed_tokens.weight")), 1 / std::sqrt(64.0), 0.01);
}

TEST(InitialValues, Gpt2ScalesTheEndsOfBranches) {
  ModelConfig config = wide(test::Family::decoder_only);
  config.init = Init::gpt2;
  config.positions = Positions::learned;
  const auto t = initial(Transformer(config, 50, 50), 1);
  const double small = 0.02 / std::sqrt(4.0);  // two layers of two branches
  EXPECT_NEAR(deviation(t.at("decoder.layers.1.fc1.weight")), 0.02, 0.001);
  EXPECT_NEAR(deviation(t.at("decoder.layers.1.fc2.weight")), small, 0.0005);
  EXPECT_NEAR(deviation(t.at("decoder.layers.1.self_attn.q_proj.weight")), 0.02, 0.001);
  EXPECT_NEAR(deviation(t.at("decoder.layers.1.self_attn.out_proj.weight")), small, 0.0005);
  EXPECT_NEAR(deviation(t.at("embed_tokens.weight")), 0.02, 0.001);
  EXPECT_NEAR(deviation(t.at("positions.weight")), 0.02, 0.002);
  config.feed_forward = FeedForwardType::none;  // two layers of one branch
  EXPECT_NEAR(
      deviation(
          initial(Transformer(config, 50, 50), 1).at("decoder.layers.1.self_attn.out_proj.weight")),
      0.02 / std::sqrt(2.0), 0.0005);
  config.feed_forward = FeedForwardType::plain;
  config.encoder_layers = 1;  // a decoder with an encoder has three branches per layer
  const auto both = initial(Transformer(config, 50, 50), 1);
  EXPECT_NEAR(deviation(both.at("decoder.layers.1.fc2.weight")), 0.02 / std::sqrt(6.0), 0.0004);
  EXPECT_NEAR(deviation(both.at("encoder.layers.0.fc2.weight")), 0.02 / std::sqrt(2.0), 0.0006);
}

TEST(InitialValues, ZeroInitMakesEveryBranchStartAsNothing) {
  for (const Init init : {Init::xavier_uniform, Init::gpt2}) {
    ModelConfig config = test::tiny_config(test::Family::encoder_decoder);
    config.init = init;
    config.zero_init = true;
    const auto t = initial(Transformer(config, 9, 9), 1);
    for (const auto& [name, values] : t)
      if (name.ends_with("out_proj.weight") || name.ends_with("fc2.weight")) {
        EXPECT_EQ(deviation(values), 0) << name;
      } else if (name.ends_with("proj.weight") || name.ends_with("fc1.weight")) {
        EXPECT_GT(deviation(values), 0) << name;
      }
  }
}

TEST(InitialValues, AblatedProjectionsAreFrozenWhereTheyStart) {
  ModelConfig config = test::tiny_config(test::Family::encoder_decoder);
  config.attention.cross.query = Projection::identity;
  config.attention.cross.value = Projection::random;
  config.attention.encoder_self.key = Projection::identity;
  const Transformer model(config, 7, 7);
  const auto t = initial(model, 1);
  for (const char* name :
       {"decoder.layers.1.cross_attn.q_proj.weight", "encoder.layers.0.self_attn.k_proj.weight"})
    for (int r = 0; r < 8; ++r)
      for (int c = 0; c < 8; ++c) EXPECT_EQ(t.at(name)[r * 8 + c], r == c) << name;
  EXPECT_GT(deviation(t.at("decoder.layers.1.cross_attn.v_proj.weight")), 0.1);
  for (const ParamInfo& info : model.table.infos()) {
    const bool frozen =
        info.name.ends_with("cross_attn.q_proj.weight") ||
        info.name.ends_with("cross_attn.v_proj.weight") ||
        (info.name.starts_with("encoder") && info.name.ends_with("self_attn.k_proj.weight"));
    EXPECT_EQ(info.init.frozen, frozen) << info.name;
  }
}

}  // namespace
}  // namespace heed
