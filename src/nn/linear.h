// y = x Wᵀ + b on rows. A Linear may stand for several that lie next to each other in the flat
// array (q, k and v of an attention), so that one product serves them all, and for a slice of
// those.
#pragma once

#include <string>

#include "nn/pass.h"

namespace heed {

// How weights start.
struct InitRule {
  Fill fill = Fill::uniform;
  double scale = 0.0;  // standard deviation for normal; 0 for uniform: as scale_for says
  bool frozen = false;
  // For a weight [out, in]: `scale`, or where it is 0 sqrt(6 / (in + out)) (Glorot and Bengio
  // 2010).
  double scale_for(int in, int out) const;
};

struct Linear {
  Param weight;  // [out, in]
  Param bias;    // [1, out]

  Linear() = default;
  // Adds NAME.weight and NAME.bias.
  Linear(ParamTable& table, const std::string& name, int in, int out, const InitRule& init);
  // The outputs [first, first + n) only.
  Linear slice(int first, int n) const;

  // [rows, in] -> [rows, out]
  template <class T>
  Mat<T> forward(Pass<T>& pass, Mat<const T> x) const;
  // The same into y [rows, out].
  template <class T>
  void forward_into(Pass<T>& pass, Mat<const T> x, Mat<T> y) const;
  // Adds to the gradients of weight and bias, and to dx unless it is empty.
  template <class T>
  void backward(Pass<T>& pass, Mat<const T> x, Mat<const T> dy, Mat<T> dx) const;
};

}  // namespace heed
