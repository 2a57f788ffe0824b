// Attention maps against a slow recomputation in double from the named tensors.
#include "inspect/attention_maps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "nn/models.h"
#include "report/attention_json.h"

namespace heed {
namespace {

using Row = std::vector<double>;
using Matrix = std::vector<Row>;

// A forward pass as the formulas say it, tensor by tensor.
class Twin {
 public:
  Twin(const Transformer& model, const ParamVec<float>& values) : config_(model.config) {
    for (const ParamInfo& info : model.table.infos()) {
      const Mat<const float> m = values[info.param];
      for (int r = 0; r < m.rows; ++r)
        tensors_[info.name].emplace_back(m.row(r), m.row(r) + m.cols);
    }
  }

  struct Head {
    Matrix weights, contributions;
  };
  std::map<std::string, Head> heads;  // "cross 1 0"

  void run(const Example& input) {
    const bool both = config_.encoder_layers > 0 && config_.decoder_layers > 0;
    const std::string table = "embed_tokens";
    Matrix memory;
    if (config_.encoder_layers > 0)
      memory = stack("encoder", config_.encoder_layers,
                     embed(input.source, table, both ? "source_positions" : "positions"), {});
    if (config_.decoder_layers > 0)
      stack("decoder", config_.decoder_layers,
            embed(input.target, table, both ? "target_positions" : "positions"), memory);
  }

 private:
  const Matrix& tensor(const std::string& name) { return tensors_.at(name); }

  Matrix embed(const std::vector<int>& ids, const std::string& table,
               const std::string& positions) {
    Matrix x;
    const int d = config_.d_model;
    for (std::size_t p = 0; p < ids.size(); ++p) {
      Row row = tensor(table + ".weight")[ids[p]];
      for (int c = 0; c < d; ++c) {
        if (config_.positions == Positions::learned) row[c] += tensor(positions + ".weight")[p][c];
        if (config_.positions != Positions::sinusoidal) continue;
        const double angle = p / std::pow(10000.0, (c / 2 * 2) / static_cast<double>(d));
        row[c] = std::sqrt(d) * row[c] + (c % 2 ? std::cos(angle) : std::sin(angle));
      }
      x.push_back(row);
    }
    return x;
  }

  Matrix linear(const std::string& name, const Matrix& x) {
    Matrix y;
    for (const Row& row : x) {
      Row out = tensor(name + ".bias")[0];
      for (std::size_t o = 0; o < out.size(); ++o)
        for (std::size_t i = 0; i < row.size(); ++i)
          out[o] += tensor(name + ".weight")[o][i] * row[i];
      y.push_back(out);
    }
    return y;
  }

  Matrix norm(const std::string& name, Matrix x) {
    for (Row& row : x) {
      double mean = 0, variance = 0;
      for (double v : row) mean += v / row.size();
      for (double v : row) variance += (v - mean) * (v - mean) / row.size();
      for (std::size_t c = 0; c < row.size(); ++c)
        row[c] = (row[c] - mean) / std::sqrt(variance + 1e-5) * tensor(name + ".weight")[0][c] +
                 tensor(name + ".bias")[0][c];
    }
    return x;
  }

  void turn(Matrix& x, int d_head) {
    for (std::size_t p = 0; p < x.size(); ++p)
      for (std::size_t c = 0; c < x[p].size(); c += 2) {
        const double angle = p * std::pow(10000.0, -static_cast<double>(c % d_head) / d_head);
        const double a = x[p][c], b = x[p][c + 1];
        x[p][c] = a * std::cos(angle) - b * std::sin(angle);
        x[p][c + 1] = a * std::sin(angle) + b * std::cos(angle);
      }
  }

  Matrix attend(const std::string& name, const std::string& label, const Matrix& x,
                const Matrix& memory, bool causal, bool cross) {
    Matrix q = linear(name + ".q_proj", x), k = linear(name + ".k_proj", memory);
    const Matrix v = linear(name + ".v_proj", memory);
    const int d = config_.d_model, d_head = d / config_.n_heads;
    if (config_.positions == Positions::rotary && !cross) {
      turn(q, d_head);
      turn(k, d_head);
    }
    Matrix context(x.size(), Row(d, 0.0));
    for (int h = 0; h < config_.n_heads; ++h) {
      Head& head = heads[label + " " + std::to_string(h)];
      for (std::size_t i = 0; i < x.size(); ++i) {
        Row p(memory.size(), 0.0), contribution(memory.size(), 0.0);
        const std::size_t visible = causal ? i + 1 : memory.size();
        double sum = 0;
        for (std::size_t j = 0; j < visible; ++j) {
          double dot = 0;
          for (int c = h * d_head; c < (h + 1) * d_head; ++c) dot += q[i][c] * k[j][c];
          sum += p[j] = std::exp(dot / std::sqrt(d_head));
        }
        for (std::size_t j = 0; j < visible; ++j) {
          p[j] /= sum;
          double squares = 0;
          for (int o = 0; o < d; ++o) {
            double moved = 0;
            for (int c = h * d_head; c < (h + 1) * d_head; ++c)
              moved += p[j] * v[j][c] * tensor(name + ".out_proj.weight")[o][c];
            squares += moved * moved;
          }
          contribution[j] = std::sqrt(squares);
          for (int c = h * d_head; c < (h + 1) * d_head; ++c) context[i][c] += p[j] * v[j][c];
        }
        head.weights.push_back(p);
        head.contributions.push_back(contribution);
      }
    }
    return linear(name + ".out_proj", context);
  }

  template <class Branch>
  Matrix residual(const std::string& norm_name, const Matrix& x, Branch branch) {
    const bool pre = config_.norm == NormPlacement::pre;
    Matrix y = branch(pre ? norm(norm_name, x) : x);
    for (std::size_t r = 0; r < x.size(); ++r)
      for (std::size_t c = 0; c < x[r].size(); ++c) y[r][c] += x[r][c];
    return pre ? y : norm(norm_name, y);
  }

  Matrix stack(const std::string& name, int layers, Matrix x, const Matrix& memory) {
    for (int l = 0; l < layers; ++l) {
      const std::string at = name + ".layers." + std::to_string(l), layer = " " + std::to_string(l);
      x = residual(at + ".self_attn_norm", x, [&](const Matrix& y) {
        return attend(at + ".self_attn", name + layer, y, y, name == "decoder", false);
      });
      if (!memory.empty())
        x = residual(at + ".cross_attn_norm", x, [&](const Matrix& y) {
          return attend(at + ".cross_attn", "cross" + layer, y, memory, false, true);
        });
      x = residual(at + ".ffn_norm", x, [&](const Matrix& y) {
        Matrix u = linear(at + ".fc1", y);
        for (Row& row : u)
          for (double& v : row) v = 0.5 * v * (1 + std::erf(v / std::sqrt(2.0)));
        return linear(at + ".fc2", u);
      });
    }
    return config_.norm == NormPlacement::pre ? norm(name + ".norm", x) : x;
  }

  ModelConfig config_;
  std::map<std::string, Matrix> tensors_;
};

double scored(const std::vector<ScoredToken>& tokens, int id) {
  return std::ranges::find(tokens, id, &ScoredToken::id)->log_probability;
}

class Maps : public testing::TestWithParam<std::tuple<test::Family, NormPlacement, Positions>> {};

TEST_P(Maps, EqualAnIndependentRecomputation) {
  const auto [family, norm, positions] = GetParam();
  ModelConfig config = test::tiny_config(family);
  config.norm = norm;
  config.positions = positions;
  const Transformer model(config, 11, 11);
  const ParamVec<float> values = test::lively_values<float>(model, 3);
  Example input;
  if (model.has_encoder()) input.source = {4, 7, 2, 9, 4};
  if (model.has_decoder()) input.target = {1, 5, 10, 3};
  Workspace workspace;
  const AttentionMaps maps = attention_maps(model, values, input, workspace);
  Twin twin(model, values);
  twin.run(input);

  InputTokens tokens;
  tokens.source.assign(input.source.size(), "x");
  tokens.target.assign(input.target.size(), "y");
  const auto json = nlohmann::json::parse(attention_json(input, tokens, maps, true));
  EXPECT_EQ(json["source_ids"], nlohmann::json(input.source));
  EXPECT_EQ(json["target_ids"], nlohmann::json(input.target));
  EXPECT_EQ(json.contains("encoder"), model.has_encoder());
  EXPECT_EQ(json.contains("decoder"), model.has_decoder());
  EXPECT_EQ(json.contains("cross"), model.has_encoder() && model.has_decoder());

  std::size_t compared = 0;
  for (const auto& [label, head] : twin.heads) {
    const std::string kind = label.substr(0, label.find(' '));
    const int layer = label[kind.size() + 1] - '0', h = label[kind.size() + 3] - '0';
    for (std::size_t q = 0; q < head.weights.size(); ++q) {
      double sum = 0;
      for (std::size_t k = 0; k < head.weights[q].size(); ++k) {
        const double weight = json[kind][layer][h][q][k];
        const double contribution = json["contribution_" + kind][layer][h][q][k];
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

TEST(SharpestHead, HasTheLargestMeanOfRowMaxima) {
  AttentionMap map{1, 3, 2, 2, {}, {}};
  map.weights = {0.5f, 0.5f, 0.75f, 0.25f,  //
                 0.1f, 0.9f, 0.2f,  0.8f,   //
                 0.9f, 0.1f, 0.8f,  0.2f};
  const SharpestHead sharpest = sharpest_head(map);
  EXPECT_EQ(sharpest.head, 1);  // the first of two equals
  EXPECT_NEAR(sharpest.largest, 0.85, 1e-7);
  using Heads = std::vector<std::array<int, 2>>;
  EXPECT_EQ(sharpest_heads({AttentionMap{}, map, map}), (Heads{{0, 1}, {0, 1}}));  // of two kinds
}

TEST(SharpestHead, DoesNotCountRowsThatSeeOneKey) {
  AttentionMap causal{2, 1, 2, 2, {1, 0, 0.5f, 0.5f, 1, 0, 0.3f, 0.7f}, {}};
  EXPECT_EQ(sharpest_head(causal).layer, 1);
  EXPECT_NEAR(sharpest_head(causal).largest, 0.7, 1e-7);
  const AttentionMap single{2, 1, 1, 1, {1, 1}, {}};
  EXPECT_EQ(sharpest_head(single).layer, 0);
}

TEST(NextTokens, AreTheMostProbableOnesAfterEachTokenOfTheDecoder) {
  const Transformer model(test::tiny_config(test::Family::decoder_only), 11, 11);
  const ParamVec<float> values = test::lively_values<float>(model, 3);
  const Example input{{}, {1, 5, 10, 3}};
  Workspace workspace;
  const NextTokens next = maps_and_next(model, values, input, workspace, 11).next;
  ASSERT_EQ(next.size(), 4u);
  for (std::size_t r = 0; r < next.size(); ++r) {
    double sum = 0;
    for (const ScoredToken& t : next[r]) {
      // A decoder's row does not see later tokens: the shorter text expects the same.
      Example prefix{{}, {input.target.begin(), input.target.begin() + r + 1}};
      const NextTokens alone = maps_and_next(model, values, prefix, workspace, 11).next;
      EXPECT_NEAR(scored(alone.back(), t.id), t.log_probability, 1e-5);
      sum += std::exp(t.log_probability);
    }
    EXPECT_NEAR(sum, 1, 1e-6);  // all 11 of them
    EXPECT_GE(next[r][0].log_probability, next[r][1].log_probability);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Maps,
                         testing::Combine(testing::Values(test::Family::encoder_decoder,
                                                          test::Family::decoder_only,
                                                          test::Family::encoder_only),
                                          testing::Values(NormPlacement::pre, NormPlacement::post),
                                          testing::Values(Positions::sinusoidal, Positions::learned,
                                                          Positions::rotary)));

}  // namespace
}  // namespace heed
