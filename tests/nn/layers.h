// What the generic layer test needs of a layer: its parameters, and one function that runs it
// forward and, if asked, backward, in float and in double. Then the kinds of rows of
// nn/layer_rows.h.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/noise.h"
#include "math/activation.h"
#include "math/row_ops.h"
#include "nn/models.h"
#include "nn/pass.h"
#include "nn/transformer.h"

namespace heed::test {

// The inputs of a layer. A layer ignores the parts it does not need.
template <class T>
struct LayerInput {
  Mat<const T> x;  // [rows, d]
  const Packed& rows;
  Mat<const T> memory;  // [memory rows, d]
  const Packed& memory_rows;
};

// The inputs of backward, and the gradients it adds to.
template <class T>
struct Back {
  Mat<const T> dy;
  Mat<T> dx, dmemory;
};

template <class T>
void add(Mat<const T> from, Mat<T> to) {
  for (int r = 0; r < from.rows; ++r)
    for (int c = 0; c < from.cols; ++c) to(r, c) += from(r, c);
}

// A copy that a layer may write to.
template <class T>
Mat<T> own(Pass<T>& pass, Mat<const T> from) {
  const Mat<T> to = pass.matrix(from.rows, from.cols);
  copy_rows(from, to);
  return to;
}

// Its parameters, and one function that runs it.
struct AnyLayer {
  // The output, taken from the pass's workspace; backward too, unless `back` is null.
  template <class T>
  using Run = std::function<Mat<T>(Pass<T>&, LayerInput<T>, const Back<T>* back)>;

  ParamTable table;
  std::tuple<Run<float>, Run<double>> run;
  // How close this input is to a point without a derivative (relu's corner).
  std::function<double(Pass<double>&, LayerInput<double>)> distance_to_corner;
};

inline constexpr auto kNoCorner = [](const auto&, Pass<double>&, LayerInput<double>) {
  return std::numeric_limits<double>::infinity();
};

// make(table) -> layer;  run(layer, pass, in, back) -> output;  corner(layer, pass, in) -> double
template <class Make, class Run, class Corner>
std::unique_ptr<AnyLayer> any_layer(Make make, Run run, Corner corner) {
  auto any = std::make_unique<AnyLayer>();
  const auto layer = std::make_shared<const decltype(make(any->table))>(make(any->table));
  const auto of_layer = [=](auto&&... args) { return run(*layer, args...); };
  std::get<0>(any->run) = of_layer;
  std::get<1>(any->run) = of_layer;
  any->distance_to_corner = [=](auto&&... args) { return corner(*layer, args...); };
  return any;
}

inline constexpr int kWidth = 8;  // d_model of the layers under test
inline constexpr int kVocab = 9;

// Some sequences of a world in which every number is a function of (sequence, position, column):
// whatever sequences are packed together, each brings its own.
struct Sequences {
  std::vector<int> numbers;  // which sequences
  std::vector<int> lengths, memory_lengths;
  bool dropout = false;
  std::uint64_t seed = 1;

  Packed rows(bool memory) const {
    Packed rows;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const int n = (memory ? memory_lengths : lengths)[numbers[i]];
      std::vector<int> ids(n);
      for (int p = 0; p < n; ++p)
        ids[p] = static_cast<int>(combine(seed, 100 * numbers[i] + p) % kVocab);
      rows.add_sequence(ids.data(), n, 0,
                        dropout ? noise_key(seed, Purpose::dropout, numbers[i], memory) : 0);
    }
    return rows;
  }
  // In (-1, 1), the same for float and double; `what` tells x from dy from memory.
  std::vector<double> numbers_for(int cols, std::uint64_t what) const {
    std::vector<double> x;
    for (int number : numbers) {
      const int n = (what == kMemory ? memory_lengths : lengths)[number];
      for (int p = 0; p < n; ++p)
        for (int c = 0; c < cols; ++c)
          x.push_back(static_cast<float>(
              2 * uniform01(noise_key(seed, Purpose::probe, what, number, p), c) - 1));
    }
    return x;
  }
  static constexpr std::uint64_t kX = 1, kMemory = 2, kDy = 3;
};

// Gains near 1, everything else in (-0.6, 0.6): no tensor at a special point.
inline std::vector<double> layer_values(const ParamTable& table, std::uint64_t seed) {
  std::vector<double> v(table.size());
  for (const ParamInfo& info : table.infos())
    for (std::size_t i = 0; i < info.param.size(); ++i) {
      const double u = uniform01(combine(seed, name_key(info.name)), i) - 0.5;
      v[info.param.offset + i] =
          static_cast<float>(info.init.kind == Initializer::ones ? 1 + 0.6 * u : 1.2 * u);
    }
  return v;
}

struct Numbers {
  std::vector<double> values, x, memory;
};

template <class T>
struct Result {
  std::vector<T> y, dx, dmemory, gradients;
  int y_cols = 0;
};

// Forward, and backward with dy from the sequences into arrays that hold `start` everywhere.
template <class T>
Result<T> run_layer(Workspace& workspace, const AnyLayer& layer, const Sequences& sequences,
                    const Numbers& numbers, bool backward, T start = 0) {
  const auto cast = [](const std::vector<double>& v) { return std::vector<T>(v.begin(), v.end()); };
  const Packed rows = sequences.rows(false), memory_rows = sequences.rows(true);
  ParamVec<T> values(layer.table.size()), gradients(layer.table.size());
  std::copy(numbers.values.begin(), numbers.values.end(), values.data());
  std::fill(gradients.data(), gradients.data() + gradients.size(), start);
  std::vector<T> x = cast(numbers.x), memory = cast(numbers.memory);
  workspace.rewind();
  Pass<T> pass{.values = values, .workspace = workspace, .gradients = &gradients};
  const LayerInput<T> in{{x.data(), rows.count(), kWidth},
                         rows,
                         {memory.data(), memory_rows.count(), kWidth},
                         memory_rows};
  const auto numbers_of = [](Mat<T> m) { return std::vector<T>(m.data, m.data + m.rows * m.cols); };
  const AnyLayer::Run<T>& run = std::get<AnyLayer::Run<T>>(layer.run);
  const Mat<T> y = run(pass, in, nullptr);
  Result<T> result;
  result.y = numbers_of(y);
  result.y_cols = y.cols;
  if (!backward) return result;
  const std::vector<T> dy = cast(sequences.numbers_for(y.cols, Sequences::kDy));
  result.dx.assign(x.size(), start);
  result.dmemory.assign(memory.size(), start);
  const Back<T> back{{dy.data(), y.rows, y.cols},
                     {result.dx.data(), rows.count(), kWidth},
                     {result.dmemory.data(), memory_rows.count(), kWidth}};
  run(pass, in, &back);
  result.gradients.assign(gradients.data(), gradients.data() + gradients.size());
  return result;
}

// ---- layers that are not made of others ----

struct LayerRow {
  std::string name;
  std::function<std::unique_ptr<AnyLayer>()> make;
  std::vector<int> lengths{3, 1, 4}, memory_lengths{2, 5, 1};
};

inline ModelConfig layer_config(const Change& change = no_change) {
  ModelConfig c;
  c.d_model = kWidth;
  c.n_heads = 2;
  c.d_ff = 12;
  c.encoder_layers = 0;
  c.decoder_layers = 2;
  c.dropout = c.attention_dropout = c.activation_dropout = 0.3;  // only where rows have keys
  c.max_length = 8;
  change(c);
  return c;
}

template <class Make, class Run, class Corner = decltype(kNoCorner)>
LayerRow layer_row(const std::string& name, Make make, Run run, Corner corner = kNoCorner) {
  return {name, [=] { return any_layer(make, run, corner); }};
}

inline LayerRow linear_row(const std::string& name, bool slice, bool with_bias) {
  return layer_row(
      name,
      [=](ParamTable& t) {
        const Linear all(t, "linear", kWidth, 12, {}, with_bias);
        return slice ? all.slice(5, 3) : all;
      },
      []<class T>(const Linear& l, Pass<T>& pass, LayerInput<T> in, const Back<T>* back) {
        if (back) l.backward(pass, in.x, back->dy, back->dx);
        return l.forward(pass, in.x);
      });
}

// `heads`: each half of a row by itself, as QK-norm does.
inline LayerRow norm_row(const std::string& name, const Change& change, bool heads = false) {
  return layer_row(
      name,
      [=](ParamTable& t) {
        return heads ? Norm(t, "norm", kWidth / 2, 1e-3) : Norm(t, "norm", layer_config(change));
      },
      []<class T>(const Norm& l, Pass<T>& pass, LayerInput<T> in, const Back<T>* back) {
        NormSaved<T> saved;
        const Mat<T> y = l.forward(pass, in.x, saved);
        if (back) l.backward(pass, saved, back->dy, back->dx);
        return y;
      });
}

inline LayerRow embedding_row(const std::string& name, Positions positions) {
  return layer_row(
      name,
      [=](ParamTable& t) {
        const Param table = t.add_matrix("tokens", kVocab, kWidth, {Initializer::normal, 1});
        return Embedding(t, table, "positions",
                         layer_config([=](ModelConfig& c) { c.positions = positions; }));
      },
      []<class T>(const Embedding& l, Pass<T>& pass, LayerInput<T> in, const Back<T>* back) {
        if (back) l.backward(pass, in.rows, own(pass, back->dy));
        return l.forward(pass, in.rows);
      });
}

// What the surrounding block passes to an attention.
template <class T>
AttentionInput<T> attention_input(Pass<T>& pass, const LayerInput<T>& in, const Back<T>* back,
                                  int rotary_width = 0) {
  AttentionInput<T> input{.rows = &in.rows, .memory = in.memory, .memory_rows = &in.memory_rows};
  if (back) input.dmemory = back->dmemory;
  if (rotary_width > 0)
    input.rotary =
        position_angles<T>(pass.workspace, in.rows.positions, rotary_width, 10000.0, true);
  return input;
}

inline LayerRow attention_row(const std::string& name, AttentionKind kind,
                              const Change& change = no_change, bool rotary = false) {
  return layer_row(
      name,
      [=](ParamTable& t) { return Attention(t, "attention", kind, 0, layer_config(change), {}); },
      [=]<class T>(const Attention& l, Pass<T>& pass, LayerInput<T> in, const Back<T>* back) {
        const AttentionInput<T> input = attention_input(pass, in, back, rotary ? l.d_head() : 0);
        AttentionSaved<T> saved;
        const Mat<T> y = l.forward(pass, in.x, input, saved);
        if (back) l.backward(pass, in.x, input, saved, back->dy, back->dx);
        return y;
      });
}

inline LayerRow feed_forward_row(const std::string& name, Activation activation,
                                 const Change& change = no_change) {
  return layer_row(
      name,
      [=](ParamTable& t) {
        ModelConfig c = layer_config(change);
        c.activation = activation;
        return FeedForward(t, "ffn", c, {});
      },
      []<class T>(const FeedForward& l, Pass<T>& pass, LayerInput<T> in, const Back<T>* back) {
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
}

// ---- residuals, blocks, stacks, the loss ----

// A residual branch that is one Linear.
struct ResidualLinear {
  Linear linear;
  Residual residual;
};

inline LayerRow residual_row(const std::string& name, NormPlacement placement) {
  return layer_row(
      name,
      [=](ParamTable& t) {
        return ResidualLinear{
            Linear(t, "linear", kWidth, kWidth, {}),
            Residual(t, "norm", layer_config([=](ModelConfig& c) { c.norm = placement; }))};
      },
      []<class T>(const ResidualLinear& l, Pass<T>& pass, LayerInput<T> in, const Back<T>* back) {
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
}

// Blocks and stacks: one d for gradient in and out.
template <class Saved, class Layer, class T>
Mat<T> run_in_place(const Layer& l, Pass<T>& pass, LayerInput<T> in, const Back<T>* back) {
  const AttentionInput<T> input = attention_input(pass, in, back);
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
  return layer_row(
      name,
      [=](ParamTable& t) {
        ModelConfig c = layer_config();
        c.norm = norm;
        c.encoder_layers = cross ? 1 : 0;
        change(c);
        return Block(t, "block", self, 0, c, {});
      },
      []<class T>(const Block& l, Pass<T>& pass, LayerInput<T> in, const Back<T>* back) {
        return run_in_place<BlockSaved<T>>(l, pass, in, back);
      });
}

inline LayerRow stack_row(const std::string& name, NormPlacement norm, Positions positions,
                          int layers) {
  return layer_row(
      name,
      [=](ParamTable& t) {
        ModelConfig c = layer_config();
        c.norm = norm;
        c.positions = positions;
        c.encoder_layers = 1;  // so that it reads a memory
        return Stack(t, "decoder", layers, AttentionKind::decoder_self, c);
      },
      []<class T>(const Stack& l, Pass<T>& pass, LayerInput<T> in, const Back<T>* back) {
        return run_in_place<StackSaved<T>>(l, pass, in, back);
      });
}

// The output layer and the loss of every row by itself: y [rows, 1].
inline LayerRow loss_row(const std::string& name, double smoothing) {
  using Model = std::shared_ptr<const Transformer>;
  return layer_row(
      name,
      [](ParamTable& t) {
        const Model model = std::make_shared<Transformer>(
            layer_config([](ModelConfig& c) { c.decoder_layers = 1; }), kVocab, kVocab);
        t = model->table;
        return model;
      },
      [=]<class T>(const Model& model, Pass<T>& pass, LayerInput<T> in, const Back<T>* back) {
        const Mat<T> y = pass.matrix(in.x.rows, 1);
        for (int r = 0; r < in.x.rows; ++r) {
          Mat<T> d;
          if (back) d = pass.matrix(1, kWidth);
          const std::vector<int> label{in.rows.ids[r]};
          const Mat<const T> x = in.x.row_range(r, r + 1);
          y(r, 0) = static_cast<T>(loss(pass, model->output, x, label, smoothing).objective);
          if (!back) continue;
          loss_backward(pass, model->output, x, label, {smoothing, back->dy(r, 0)}, d);
          add<T>(d, back->dx.row_range(r, r + 1));
        }
        return y;
      });
}

}  // namespace heed::test
