// LayerNorm or RMSNorm over the columns of each row (math/normalize.h), with a gain and, in
// LayerNorm, a bias.
#pragma once

#include <string>

#include "base/std_names.h"
#include "config/model_config.h"
#include "math/normalize.h"
#include "nn/pass.h"

namespace heed {

template <class T>
struct NormSaved {
  Mat<const T> in;
  Mat<T> stats;  // [rows, 2 for each d columns]
};

struct Norm {
  NormKind kind;
  Param weight;  // gain [1, d]
  Param bias;    // [1, d], or empty

  // Over rows of d_model numbers, as configured.
  Norm(ParamTable& table, const string& name, const ModelConfig& config)
      : kind{config.norm_type, config.norm_eps},
        weight(table.add_vector(name + ".weight", config.d_model, Initializer::ones)) {
    if (config.bias && kind.type == NormType::layer)
      bias = table.add_vector(name + ".bias", config.d_model, Initializer::zeros);
  }
  // QK-norm: RMSNorm over d. If x is wider, each group of d columns (a head) is normalised alone,
  // all with the same gain.
  Norm(ParamTable& table, const string& name, int d, double eps)
      : kind{NormType::rms, eps},
        weight(table.add_vector(name + ".weight", d, Initializer::ones)) {}

  // Without a bias: a row of zeros, its gradient discarded. This saves a second kernel.
  template <class T>
  Mat<T> forward(Pass<T>& pass, In<T> x, NormSaved<T>& saved) const {
    const int d = weight.cols, parts = x.cols / d;
    const Mat<T> y = pass.matrix(x.rows, x.cols);
    saved = {x, pass.matrix(x.rows, 2 * parts)};
    WorkspaceScope scope(pass.workspace);
    const Mat<const T> b = bias.size() > 0 ? pass[bias] : pass.zeros(1, d);
    for (int i = 0; i < parts; ++i)
      normalize<T>(kind, x.part(i, d), pass[weight], b, y.part(i, d), saved.stats.part(i, 2));
    return y;
  }
  template <class T>
  void backward(Pass<T>& pass, const NormSaved<T>& saved, In<T> dy, Mat<T> dx) const {
    WorkspaceScope scope(pass.workspace);
    const int d = weight.cols;
    const Mat<T> db = bias.size() > 0 ? pass.gradient(bias) : pass.zeros(1, d);
    for (int i = 0; i < dy.cols / d; ++i)
      normalize_backward<T>(kind.type, saved.in.part(i, d), pass[weight], saved.stats.part(i, 2),
                            dy.part(i, d), {dx.part(i, d), pass.gradient(weight), db});
  }
};

}  // namespace heed
