// y = x Wᵀ + b on rows: the only matrix products with weights.
//
// A Linear may cover several weights that are adjacent in the flat array (q, k and v of an
// attention), so that one product computes them all; slice() gives part of them.
#pragma once

#include <string>

#include "base/std_names.h"
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

  Linear() = default;
  // Uses existing parameters; no bias by default.
  explicit Linear(Param weight_, Param bias_ = {}) : weight(weight_), bias(bias_) {}
  // Adds NAME.weight of each part, then NAME.bias of each if `with_bias`: one product for all.
  Linear(ParamTable& table, int in, const vector<LinearPart>& parts, bool with_bias);
  Linear(ParamTable& table, const string& name, int in, int out, const Initializer& init,
         bool with_bias = true);
  // Only the outputs [first, first + n).
  Linear slice(int first, int n) const;

  // [rows, in] -> [rows, out]
  template <class T>
  Mat<T> forward(Pass<T>& pass, In<T> x) const;
  // The same, to y [rows, out].
  template <class T>
  void forward_into(Pass<T>& pass, In<T> x, Mat<T> y) const;
  // Adds to the gradients of weight and bias, and to dx unless it is empty.
  template <class T>
  void backward(Pass<T>& pass, In<T> x, In<T> dy, Mat<T> dx) const;
};

}  // namespace heed
