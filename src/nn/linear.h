// y = x Wᵀ + b on rows: the only matrix products with weights in a pass.
//
// A Linear may cover several weights that are adjacent in the flat array (q, k and v of an
// attention), so that one product computes them all; slice() gives part of them.
#pragma once

#include <cassert>
#include <string>
#include <vector>

#include "base/std_names.h"
#include "math/row_ops.h"
#include "nn/pass.h"

namespace heed {

struct LinearPart {
  string name;
  int out;
  Initializer init;
};

struct Linear {
  Param weight;  // [out, in]
  Param bias;    // [1, out], or empty

  // Uses existing parameters; no bias by default.
  explicit Linear(Param weight_ = {}, Param bias_ = {}) : weight(weight_), bias(bias_) {}
  // Adds NAME.weight of each part, then NAME.bias of each if `with_bias`: one product for all.
  Linear(ParamTable& table, int in, const vector<LinearPart>& parts, bool with_bias)
      : weight{table.size(), 0, in} {
    for (const LinearPart& part : parts)
      weight.rows += table.add_matrix(part.name + ".weight", part.out, in, part.init).rows;
    if (!with_bias) return;
    bias = {table.size(), 1, 0};
    for (const LinearPart& part : parts)
      bias.cols += table.add_vector(part.name + ".bias", part.out, Initializer::zeros).cols;
  }
  Linear(ParamTable& table, const string& name, int in, int out, const Initializer& init,
         bool with_bias = true)
      : Linear(table, in, {{name, out, init}}, with_bias) {}
  // Only the outputs [first, first + n).
  Linear slice(int first, int n) const {
    assert(first >= 0 && first + n <= weight.rows);
    const Param part{weight.offset + size_t(first) * weight.cols, n, weight.cols};
    return Linear(part, bias.size() > 0 ? Param{bias.offset + first, 1, n} : Param{});
  }

  // [rows, in] -> [rows, out]
  template <class T>
  Mat<T> forward(Pass<T>& pass, In<T> x) const {
    const Mat<T> y = pass.matrix(x.rows, weight.rows);
    forward_into(pass, x, y);
    return y;
  }
  // The same, to y [rows, out].
  template <class T>
  void forward_into(Pass<T>& pass, In<T> x, Mat<T> y) const {
    pass.products->forward(x, pass[weight], bias.size() > 0 ? pass[bias] : Mat<const T>(), y);
  }
  // dx += dy W, unless it is empty;  dW += dyᵀ x,  db += column sums of dy
  template <class T>
  void backward(Pass<T>& pass, In<T> x, In<T> dy, Mat<T> dx) const {
    if (bias.size() > 0) add_column_sums(dy, pass.gradient(bias));
    pass.products->backward(dy, x, pass[weight], pass.gradient(weight), dx);
  }
};

}  // namespace heed
