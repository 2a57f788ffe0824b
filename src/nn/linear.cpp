#include "nn/linear.h"

#include "base/std_names.h"
#include "math/row_ops.h"

namespace heed {

Linear::Linear(ParamTable& table, const string& name, int in, int out, const Initializer& init,
               bool with_bias)
    : Linear(table, in, {{name, out, init}}, with_bias) {}

Linear::Linear(ParamTable& table, int in, const vector<LinearPart>& parts, bool with_bias)
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
  const Param part{weight.offset + size_t(first) * weight.cols, n, weight.cols};
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
  pass.products->forward(x, pass[weight], bias.size() > 0 ? pass[bias] : Mat<const T>(), y);
}

// dx += dy W,  dW += dyᵀ x,  db += column sums of dy
template <class T>
void Linear::backward(Pass<T>& pass, In<T> x, In<T> dy, Mat<T> dx) const {
  if (bias.size() > 0) add_column_sums(dy, pass.gradient(bias));
  pass.products->backward(dy, x, pass[weight], pass.gradient(weight), dx);
}

#define HEED_INSTANTIATE(T)                                          \
  template Mat<T> Linear::forward(Pass<T>&, In<T>) const;            \
  template void Linear::forward_into(Pass<T>&, In<T>, Mat<T>) const; \
  template void Linear::backward(Pass<T>&, In<T>, In<T>, Mat<T>) const;
HEED_INSTANTIATE(float)
HEED_INSTANTIATE(double)
#undef HEED_INSTANTIATE

}  // namespace heed
