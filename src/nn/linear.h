// y = x Wᵀ + b on rows: the one place where a weight meets a matrix product.
//
// A Linear may stand for several that lie next to each other in the flat array (q, k and v of an
// attention), so that one product serves them all, and for a slice of those. The output layer is a
// Linear without a bias. A packed or lower-precision copy of the weights would live behind forward
// and backward.
#pragma once

#include <string>

#include "nn/pass.h"

namespace heed {

struct Linear {
  Param weight;  // [out, in]
  Param bias;    // [1, out], or empty

  Linear() = default;
  // Adds NAME.weight and NAME.bias.
  Linear(ParamTable& table, const std::string& name, int in, int out, const Initializer& init);
  // Without a bias, on a weight that exists.
  explicit Linear(Param weight_) : weight(weight_) {}
  // The outputs [first, first + n) only.
  Linear slice(int first, int n) const;

  // [rows, in] -> [rows, out]
  template <class T>
  Mat<T> forward(Pass<T>& pass, In<T> x) const;
  // The same into y [rows, out].
  template <class T>
  void forward_into(Pass<T>& pass, In<T> x, Mat<T> y) const;
  // Adds to the gradients of weight and bias, and to dx unless it is empty.
  template <class T>
  void backward(Pass<T>& pass, In<T> x, In<T> dy, Mat<T> dx) const;
};

}  // namespace heed
