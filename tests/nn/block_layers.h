// Rows of the generic layer test that are made of other layers: residuals, blocks, stacks, the
// loss.
#pragma once

#include <memory>

#include "nn/layers.h"

namespace heed::test {

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
                          bool cross, const Change& change = no_change) {
  return {name, [=] {
            return any_layer(
                [=](ParamTable& t) {
                  ModelConfig c = layer_config();
                  c.norm = norm;
                  c.encoder_layers = cross ? 1 : 0;
                  change(c);
                  return Block(t, "block", self, 0, c, {});
                },
                []<class T>(const Block& l, Pass<T>& pass, LayerInput<T> in, const Back<T>* back) {
                  return run_in_place<BlockSaved<T>>(l, pass, in, attention_input(pass, in, back),
                                                     back);
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
                  return run_in_place<StackSaved<T>>(l, pass, in, attention_input(pass, in, back),
                                                     back);
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
