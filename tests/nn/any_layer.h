// What the generic layer test needs of a layer: its parameters, and one function that runs it
// forward and, if asked, backward, in float and in double.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/noise.h"
#include "math/row_ops.h"
#include "nn/pass.h"

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

class AnyLayer {
 public:
  virtual ~AnyLayer() = default;
  // The output, taken from the pass's workspace; backward too, unless `back` is null.
  virtual Mat<float> run(Pass<float>& pass, LayerInput<float> in,
                         const Back<float>* back) const = 0;
  virtual Mat<double> run(Pass<double>& pass, LayerInput<double> in,
                          const Back<double>* back) const = 0;
  // How close this input is to a point without a derivative (relu's corner).
  virtual double distance_to_corner(Pass<double>& pass, LayerInput<double> in) const = 0;

  ParamTable table;
};

inline constexpr auto kNoCorner = [](const auto&, Pass<double>&, LayerInput<double>) {
  return std::numeric_limits<double>::infinity();
};

// make(table) -> layer;  run(layer, pass, in, back) -> output;  corner(layer, pass, in) -> double
template <class Make, class Run, class Corner = decltype(kNoCorner)>
std::unique_ptr<AnyLayer> any_layer(Make make, Run run_it, Corner corner = kNoCorner) {
  using Layer = decltype(make(std::declval<ParamTable&>()));
  class Wrapped : public AnyLayer {
   public:
    Wrapped(Make m, Run r, Corner c) : run_(r), corner_(c), layer_(m(table)) {}
    Mat<float> run(Pass<float>& pass, LayerInput<float> in,
                   const Back<float>* back) const override {
      return run_(layer_, pass, in, back);
    }
    Mat<double> run(Pass<double>& pass, LayerInput<double> in,
                    const Back<double>* back) const override {
      return run_(layer_, pass, in, back);
    }
    double distance_to_corner(Pass<double>& pass, LayerInput<double> in) const override {
      return corner_(layer_, pass, in);
    }

   private:
    Run run_;
    Corner corner_;
    Layer layer_;
  };
  return std::make_unique<Wrapped>(make, run_it, corner);
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
  const Mat<T> y = layer.run(pass, in, nullptr);
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
  layer.run(pass, in, &back);
  result.gradients.assign(gradients.data(), gradients.data() + gradients.size());
  return result;
}

template <class T>
Result<T> run_layer(const AnyLayer& layer, const Sequences& sequences, const Numbers& numbers,
                    bool backward, T start = 0) {
  Workspace workspace;
  return run_layer<T>(workspace, layer, sequences, numbers, backward, start);
}

}  // namespace heed::test
