#include "nn/linear.h"

#include "math/batch_invariant.h"
#include "math/blas.h"
#include "math/row_ops.h"

namespace heed {

Linear::Linear(ParamTable& table, const std::string& name, int in, int out, const Initializer& init,
               bool with_bias)
    : Linear(table, in, {{name, out, init}}, with_bias) {}

Linear::Linear(ParamTable& table, int in, const std::vector<LinearPart>& parts, bool with_bias)
    : weight{table.size(), 0, in} {
  for (const LinearPart& part : parts)
    weight.rows += table.add_matrix(part.name + ".weight", part.out, in, part.init).rows;
  if (!with_bias) return;
  bias = {table.size(), 1, 0};
  for (const LinearPart& part : parts)
    bias.cols += table.add_vector(part.name + ".bias", part.out, Initializer::zeros).cols;
}

Linear Linear::slice(int first, int n) const {
  assert(first >= 0 && first + n <= weight.rows);
  const Param part{weight.offset + static_cast<std::size_t>(first) * weight.cols, n, weight.cols};
  return Linear(part, bias.size() > 0 ? Param{bias.offset + first, 1, n} : Param{});
}

template <class T>
Mat<T> Linear::forward(Pass<T>& pass, In<T> x) const {
  const Mat<T> y = pass.matrix(x.rows, weight.rows);
  forward_into(pass, x, y);
  return y;
}

// y = x Wᵀ + b
template <class T>
void Linear::forward_into(Pass<T>& pass, In<T> x, Mat<T> y) const {
  Timed timed(pass.profile, Work::gemm_forward);
  const bool biased = bias.size() > 0;
  if (pass.batch_invariant) {
    batch_invariant_linear(x, pass[weight], biased ? pass[bias] : Mat<const T>(), y, pass.pool);
  } else {
    if (biased) fill_rows(pass[bias], y);
    gemm(1, as_is(x), transposed(pass[weight]), biased ? 1 : 0, y);
  }
}

// dx += dy W,  dW += dyᵀ x,  db += column sums of dy
template <class T>
void Linear::backward(Pass<T>& pass, In<T> x, In<T> dy, Mat<T> dx) const {
  if (bias.size() > 0) {
    Timed timed(pass.profile, Work::norms_activations);
    add_column_sums(dy, pass.gradient(bias));
  }
  {
    Timed timed(pass.profile, Work::gemm_weight_gradient);
    gemm(1, transposed(dy), as_is(x), 1, pass.gradient(weight));
  }
  if (dx.empty()) return;
  Timed timed(pass.profile, Work::gemm_input_gradient);
  gemm(1, as_is(dy), as_is(pass[weight]), 1, dx);
}

#define HEED_INSTANTIATE(T)                                          \
  template Mat<T> Linear::forward(Pass<T>&, In<T>) const;            \
  template void Linear::forward_into(Pass<T>&, In<T>, Mat<T>) const; \
  template void Linear::backward(Pass<T>&, In<T>, In<T>, Mat<T>) const;
HEED_INSTANTIATE(float)
HEED_INSTANTIATE(double)
#undef HEED_INSTANTIATE

}  // namespace heed
