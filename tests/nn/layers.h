// The layers that go through the generic test. A new layer is one more entry.
#pragma once

#include <algorithm>
#include <cmath>

#include "math/activation.h"
#include "math/row_ops.h"
#include "nn/any_layer.h"
#include "nn/transformer.h"

namespace heed::test {

struct LayerRow {
  std::string name;
  std::function<std::unique_ptr<AnyLayer>()> make;
  std::vector<int> lengths{3, 1, 4}, memory_lengths{2, 5, 1};
};

inline ModelConfig layer_config() {
  ModelConfig c;
  c.d_model = kWidth;
  c.n_heads = 2;
  c.d_ff = 12;
  c.encoder_layers = 0;
  c.decoder_layers = 2;
  c.dropout = c.attention_dropout = 0.3;  // only where rows have keys
  c.max_length = 8;
  return c;
}

inline LayerRow linear_row(const std::string& name, bool slice, bool with_bias) {
  return {name, [=] {
            return any_layer(
                [=](ParamTable& t) {
                  const Linear all(t, "linear", kWidth, 12, {}, with_bias);
                  return slice ? all.slice(5, 3) : all;
                },
                []<class T>(const Linear& l, Pass<T>& pass, LayerInput<T> in, const Back<T>* back) {
                  if (back) l.backward(pass, in.x, back->dy, back->dx);
                  return l.forward(pass, in.x);
                });
          }};
}

inline LayerRow norm_row() {
  return {"norm", [] {
            return any_layer(
                [](ParamTable& t) { return Norm(t, "norm", kWidth); },
                []<class T>(const Norm& l, Pass<T>& pass, LayerInput<T> in, const Back<T>* back) {
                  const auto f = l.forward(pass, in.x);
                  if (back) l.backward(pass, in.x, f.stats, back->dy, back->dx);
                  return f.y;
                });
          }};
}

inline LayerRow embedding_row(const std::string& name, Positions positions) {
  return {
      name, [=] {
        return any_layer(
            [=](ParamTable& t) {
              ModelConfig c = layer_config();
              c.positions = positions;
              const Param table = t.add_matrix("tokens", kVocab, kWidth, {Initializer::normal, 1});
              return Embedding(t, table, "positions", c);
            },
            []<class T>(const Embedding& l, Pass<T>& pass, LayerInput<T> in, const Back<T>* back) {
              if (back) l.backward(pass, in.rows, own(pass, back->dy));
              return l.forward(pass, in.rows);
            });
      }};
}

// What the blocks around an attention hand it.
template <class T>
AttentionInput<T> attention_input(Pass<T>& pass, const LayerInput<T>& in, const Back<T>* back,
                                  bool rotary) {
  AttentionInput<T> input{.rows = &in.rows, .memory = in.memory, .memory_rows = &in.memory_rows};
  if (back) input.dmemory = back->dmemory;
  if (rotary) {
    input.rotary = position_angles<T>(pass.workspace, position_range(in.rows), kWidth / 2, true);
  }
  return input;
}

inline LayerRow attention_row(const std::string& name, AttentionKind kind,
                              const AttentionConfig& ablation = {}, bool rotary = false) {
  return {
      name, [=] {
        return any_layer(
            [=](ParamTable& t) {
              ModelConfig c = layer_config();
              c.attention = {ablation, ablation, ablation};
              return Attention(t, "attention", kind, 0, c, {});
            },
            [=]<class T>(const Attention& l, Pass<T>& pass, LayerInput<T> in, const Back<T>* back) {
              const AttentionInput<T> input = attention_input(pass, in, back, rotary);
              AttentionSaved<T> saved;
              const Mat<T> y = l.forward(pass, in.x, input, saved);
              if (back) l.backward(pass, in.x, input, saved, back->dy, back->dx);
              return y;
            });
      }};
}

inline LayerRow feed_forward_row(const std::string& name, Activation activation) {
  return {name, [=] {
            return any_layer(
                [=](ParamTable& t) {
                  ModelConfig c = layer_config();
                  c.activation = activation;
                  return FeedForward(t, "ffn", c, {});
                },
                []<class T>(const FeedForward& l, Pass<T>& pass, LayerInput<T> in,
                            const Back<T>* back) {
                  FeedForwardSaved<T> saved;
                  const Mat<T> y = l.forward(pass, in.x, in.rows, saved);
                  if (back) l.backward(pass, in.x, in.rows, saved, back->dy, back->dx);
                  return y;
                },
                [=](const FeedForward& l, Pass<double>& pass, LayerInput<double> in) {
                  double nearest = std::numeric_limits<double>::infinity();
                  if (activation != Activation::relu) return nearest;
                  const Mat<double> u = l.fc1.forward(pass, in.x);
                  for (int i = 0; i < u.rows * u.cols; ++i)
                    nearest = std::min(nearest, std::abs(u.data[i]));
                  return nearest;
                });
          }};
}

// A residual branch that is one Linear.
struct ResidualLinear {
  Linear linear;
  Residual residual;
};

inline LayerRow residual_row(const std::string& name, NormPlacement placement) {
  return {name, [=] {
            return any_layer(
                [=](ParamTable& t) {
                  ModelConfig c = layer_config();
                  c.norm = placement;
                  return ResidualLinear{Linear(t, "linear", kWidth, kWidth, {}),
                                        Residual(t, "norm", c)};
                },
                []<class T>(const ResidualLinear& l, Pass<T>& pass, LayerInput<T> in,
                            const Back<T>* back) {
                  ResidualSaved<T> saved;
                  const Mat<T> y =
                      l.residual.forward(pass, own(pass, in.x), in.rows, saved,
                                         [&](heed::In<T> x) { return l.linear.forward(pass, x); });
                  if (back) {
                    const Mat<T> d = own(pass, back->dy);
                    l.residual.backward(pass, d, in.rows, saved,
                                        [&](heed::In<T> x, heed::In<T> dy, Mat<T> dx) {
                                          l.linear.backward(pass, x, dy, dx);
                                        });
                    add<T>(d, back->dx);
                  }
                  return y;
                });
          }};
}

// Blocks and stacks: one d for gradient in and out.
template <class Saved, class Layer, class T>
Mat<T> run_in_place(const Layer& l, Pass<T>& pass, LayerInput<T> in, const AttentionInput<T>& input,
                    const Back<T>* back) {
  Saved saved;
  const Mat<T> y = l.forward(pass, own(pass, in.x), input, saved);
  if (back) {
    const Mat<T> d = own(pass, back->dy);
    l.backward(pass, d, input, saved);
    add<T>(d, back->dx);
  }
  return y;
}

inline LayerRow block_row(const std::string& name, NormPlacement norm, AttentionKind self,
                          bool cross) {
  return {name, [=] {
            return any_layer(
                [=](ParamTable& t) {
                  ModelConfig c = layer_config();
                  c.norm = norm;
                  c.encoder_layers = cross ? 1 : 0;
                  return Block(t, "block", self, 0, c, {});
                },
                []<class T>(const Block& l, Pass<T>& pass, LayerInput<T> in, const Back<T>* back) {
                  return run_in_place<BlockSaved<T>>(l, pass, in,
                                                     attention_input(pass, in, back, false), back);
                });
          }};
}

inline LayerRow stack_row(const std::string& name, NormPlacement norm, Positions positions,
                          int layers) {
  return {name, [=] {
            return any_layer(
                [=](ParamTable& t) {
                  ModelConfig c = layer_config();
                  c.norm = norm;
                  c.positions = positions;
                  c.encoder_layers = 1;  // so that it reads a memory
                  return Stack(t, "decoder", layers, AttentionKind::decoder_self, c);
                },
                []<class T>(const Stack& l, Pass<T>& pass, LayerInput<T> in, const Back<T>* back) {
                  return run_in_place<StackSaved<T>>(l, pass, in,
                                                     attention_input(pass, in, back, false), back);
                });
          }};
}

// The output layer and the loss of every row by itself: y [rows, 1].
inline LayerRow loss_row(const std::string& name, double smoothing) {
  struct Layer {
    std::shared_ptr<const Transformer> model;
  };
  return {name, [=] {
            return any_layer(
                [](ParamTable& t) {
                  ModelConfig c = layer_config();
                  c.decoder_layers = 1;
                  Layer layer{std::make_shared<Transformer>(c, kVocab, kVocab)};
                  t = layer.model->table;
                  return layer;
                },
                [=]<class T>(const Layer& l, Pass<T>& pass, LayerInput<T> in, const Back<T>* back) {
                  const Mat<T> y = pass.matrix(in.x.rows, 1);
                  for (int r = 0; r < in.x.rows; ++r) {
                    Mat<T> d;
                    if (back) d = pass.matrix(1, kWidth);
                    const std::vector<int> label{in.rows.ids[r]};
                    const Mat<const T> x = in.x.row_range(r, r + 1);
                    y(r, 0) =
                        static_cast<T>(loss(pass, l.model->output, x, label, smoothing).objective);
                    if (!back) continue;
                    loss_backward(pass, l.model->output, x, label, {smoothing, back->dy(r, 0)}, d);
                    add<T>(d, back->dx.row_range(r, r + 1));
                  }
                  return y;
                });
          }};
}

}  // namespace heed::test
