// Rows of the generic layer test: layers that are not made of others.
#pragma once

#include <algorithm>
#include <cmath>

#include "math/activation.h"
#include "math/row_ops.h"
#include "nn/any_layer.h"
#include "nn/models.h"
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
  c.dropout = c.attention_dropout = c.activation_dropout = 0.3;  // only where rows have keys
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

// `heads`: each half of a row by itself, as QK-norm does.
inline LayerRow norm_row(const std::string& name, const Change& change, bool heads = false) {
  return {name, [=] {
            return any_layer(
                [=](ParamTable& t) {
                  ModelConfig c = layer_config();
                  change(c);
                  return heads ? Norm(t, "norm", kWidth / 2, 1e-3) : Norm(t, "norm", c);
                },
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

// What the surrounding block passes to an attention.
template <class T>
AttentionInput<T> attention_input(Pass<T>& pass, const LayerInput<T>& in, const Back<T>* back,
                                  int rotary_width = 0) {
  AttentionInput<T> input{.rows = &in.rows, .memory = in.memory, .memory_rows = &in.memory_rows};
  if (back) input.dmemory = back->dmemory;
  if (rotary_width > 0)
    input.rotary = position_angles<T>(pass.workspace, position_range(in.rows),
                                      {.width = rotary_width, .cos_first = true});
  return input;
}

inline LayerRow attention_row(const std::string& name, AttentionKind kind,
                              const Change& change = no_change, bool rotary = false) {
  return {
      name, [=] {
        return any_layer(
            [=](ParamTable& t) {
              ModelConfig c = layer_config();
              change(c);
              return Attention(t, "attention", kind, 0, c, {});
            },
            [=]<class T>(const Attention& l, Pass<T>& pass, LayerInput<T> in, const Back<T>* back) {
              const AttentionInput<T> input =
                  attention_input(pass, in, back, rotary ? l.d_head() : 0);
              AttentionSaved<T> saved;
              const Mat<T> y = l.forward(pass, in.x, input, saved);
              if (back) l.backward(pass, in.x, input, saved, back->dy, back->dx);
              return y;
            });
      }};
}

inline LayerRow feed_forward_row(const std::string& name, Activation activation,
                                 const Change& change = no_change) {
  return {name, [=] {
            return any_layer(
                [=](ParamTable& t) {
                  ModelConfig c = layer_config();
                  c.activation = activation;
                  change(c);
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
                  if (!has_corner(activation)) return nearest;
                  const Mat<double> u = l.in.forward(pass, in.x).part(0, l.fc2.weight.cols);
                  for (int r = 0; r < u.rows; ++r)
                    for (int c = 0; c < u.cols; ++c) nearest = std::min(nearest, std::abs(u(r, c)));
                  return nearest;
                });
          }};
}

}  // namespace heed::test
