// LayerNorm over the columns of each row (Ba, Kiros and Hinton 2016), with gain and bias.
#pragma once

#include <string>

#include "nn/pass.h"

namespace heed {

struct Norm {
  Param weight;  // gain [1, d]
  Param bias;    // [1, d]

  Norm() = default;
  Norm(ParamTable& table, const std::string& name, int d);

  // y = (x - mean) / sqrt(var + 1e-5) * gain + bias. stats [rows, 2] is kept for backward.
  template <class T>
  struct Forward {
    Mat<T> y, stats;
  };
  template <class T>
  Forward<T> forward(Pass<T>& pass, In<T> x) const;
  template <class T>
  void backward(Pass<T>& pass, In<T> x, In<T> stats, In<T> dy, Mat<T> dx) const;
};

}  // namespace heed
