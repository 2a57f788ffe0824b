// LayerNorm or RMSNorm over the columns of each row (math/normalize.h), with a gain and, in
// LayerNorm, a bias.
#pragma once

#include <string>

#include "base/std_names.h"
#include "config/model_config.h"
#include "nn/pass.h"

namespace heed {

struct Norm {
  NormKind kind;
  Param weight;  // gain [1, d]
  Param bias;    // [1, d], or empty

  // Over rows of d_model numbers, as configured.
  Norm(ParamTable& table, const string& name, const ModelConfig& config);
  // QK-norm: RMSNorm over d. If x is wider, each group of d columns (a head) is normalised alone,
  // all with the same gain.
  Norm(ParamTable& table, const string& name, int d, double eps);

  // stats [rows, 2 for each d columns] is kept for backward.
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
