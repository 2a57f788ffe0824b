// A slow forward pass in double from the named tensors, which keeps the attention weights.
#pragma once

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "data/objective.h"
#include "nn/transformer.h"

namespace heed::test {

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
    const int sharing = config_.n_heads / kv_heads(config_);
    if (config_.positions == Positions::rotary && !cross) {
      turn(q, d_head);
      turn(k, d_head);
    }
    Matrix context(x.size(), Row(d, 0.0));
    for (int h = 0; h < config_.n_heads; ++h) {
      Head& head = heads[label + " " + std::to_string(h)];
      const int first = h * d_head, kv = h / sharing * d_head;
      for (std::size_t i = 0; i < x.size(); ++i) {
        Row p(memory.size(), 0.0), contribution(memory.size(), 0.0);
        const std::size_t visible = causal ? i + 1 : memory.size();
        double sum = 0;
        for (std::size_t j = 0; j < visible; ++j) {
          double dot = 0;
          for (int c = 0; c < d_head; ++c) dot += q[i][first + c] * k[j][kv + c];
          sum += p[j] = std::exp(dot / std::sqrt(d_head));
        }
        for (std::size_t j = 0; j < visible; ++j) {
          p[j] /= sum;
          double squares = 0;
          for (int o = 0; o < d; ++o) {
            double moved = 0;
            for (int c = 0; c < d_head; ++c)
              moved += p[j] * v[j][kv + c] * tensor(name + ".out_proj.weight")[o][first + c];
            squares += moved * moved;
          }
          contribution[j] = std::sqrt(squares);
          for (int c = 0; c < d_head; ++c) context[i][first + c] += p[j] * v[j][kv + c];
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

}  // namespace heed::test
