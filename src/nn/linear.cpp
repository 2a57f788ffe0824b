#include "nn/linear.h"

#include <cmath>

#include "math/blas.h"
#include "math/row_kernel.h"
#include "math/rows.h"

namespace heed {

double InitRule::scale_for(int in, int out) const {
  return scale > 0 ? scale : std::sqrt(6.0 / (in + out));
}

Linear::Linear(ParamTable& table, const std::string& name, int in, int out, const InitRule& init) {
  weight =
      table.add_matrix(name + ".weight", out, in, init.fill, init.scale_for(in, out), init.frozen);
  bias = table.add_vector(name + ".bias", out, Fill::zeros);
}

Linear Linear::slice(int first, int n) const {
  assert(first >= 0 && first + n <= weight.rows);
  Linear part;
  part.weight = {weight.offset + static_cast<std::size_t>(first) * weight.cols, n, weight.cols};
  part.bias = {bias.offset + first, 1, n};
  return part;
}

template <class T>
Mat<T> Linear::forward(Pass<T>& pass, Mat<const T> x) const {
  const Mat<T> y = pass.workspace.template rows<T>(x.rows, weight.rows);
  forward_into(pass, x, y);
  return y;
}

template <class T>
void Linear::forward_into(Pass<T>& pass, Mat<const T> x, Mat<T> y) const {
  Timed timed(pass.profile, Work::gemm_forward);
  if (pass.exact_rows) {
    exact_linear(x, pass[weight], pass[bias], y, pass.pool);
  } else {
    fill_rows(pass[bias], y);
    gemm(T{1}, plain(x), transposed(pass[weight]), T{1}, y);
  }
}

// dx += dy W,  dW += dyᵀ x,  db += column sums of dy
template <class T>
void Linear::backward(Pass<T>& pass, Mat<const T> x, Mat<const T> dy, Mat<T> dx) const {
  {
    Timed timed(pass.profile, Work::norms_activations);
    add_column_sums(dy, pass.gradient(bias));
  }
  {
    Timed timed(pass.profile, Work::gemm_weight_gradient);
    gemm(T{1}, transposed(dy), plain(x), T{1}, pass.gradient(weight));
  }
  if (dx.empty()) return;
  Timed timed(pass.profile, Work::gemm_input_gradient);
  gemm(T{1}, plain(dy), plain(pass[weight]), T{1}, dx);
}

#define HEED_INSTANTIATE(T)                                                 \
  template Mat<T> Linear::forward(Pass<T>&, Mat<const T>) const;            \
  template void Linear::forward_into(Pass<T>&, Mat<const T>, Mat<T>) const; \
  template void Linear::backward(Pass<T>&, Mat<const T>, Mat<const T>, Mat<T>) const;
HEED_INSTANTIATE(float)
HEED_INSTANTIATE(double)
#undef HEED_INSTANTIATE

}  // namespace heed
