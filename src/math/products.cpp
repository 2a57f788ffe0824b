#include "math/products.h"

#include "base/profile.h"
#include "base/std_names.h"
#include "math/row_ops.h"

namespace heed {

template <class T>
void Products<T>::forward(In<T> x, In<T> w, In<T> b, Mat<T> y) const {
  const Timed timed(Work::linear_forward);
  if (!b.empty()) fill_rows(b, y);
  heed::gemm<T>(1, as_is(x), transposed(w), b.empty() ? 0 : 1, y);
}

template <class T>
void Products<T>::backward(In<T> dy, In<T> x, In<T> w, Mat<T> dw, Mat<T> dx) const {
  const Timed timed(Work::linear_backward);
  heed::gemm<T>(1, transposed(dy), as_is(x), 1, dw);
  if (!dx.empty()) heed::gemm<T>(1, as_is(dy), as_is(w), 1, dx);
}

template <class T>
void Products<T>::attend(span<const AttentionHead<T>> heads, Workspace& workspace) const {
  const Timed timed(Work::attention);
  for (const AttentionHead<T>& head : heads) head_forward(head, workspace);
}

template <class T>
void Products<T>::attend_backward(span<const AttentionHead<T>> heads,
                                  span<const HeadGradients<T>> gradients,
                                  Workspace& workspace) const {
  const Timed timed(Work::attention);
  for (size_t i = 0; i < heads.size(); ++i) head_backward(heads[i], gradients[i], workspace);
}

template <class T>
void Products<T>::attend_cached(const CachedHeads<T>& heads) const {
  batch_invariant_attention(heads);
}

template <class T>
void Products<T>::gemm(T alpha, Operand<T> a, Operand<T> b, T beta, Mat<T> c) const {
  heed::gemm(alpha, a, b, beta, c);
}

template <class T>
void Products<T>::syrk(T alpha, Operand<T> a, T beta, Mat<T> c) const {
  heed::syrk(alpha, a, beta, c);
}

template <class T>
void RowProducts<T>::forward(In<T> x, In<T> w, In<T> b, Mat<T> y) const {
  batch_invariant_linear(x, w, b, y, pool_);
}

template <class T>
Products<T>& blas_products() {
  static Products<T> products;
  return products;
}

template class Products<float>;
template class Products<double>;
template class RowProducts<float>;
template class RowProducts<double>;
template Products<float>& blas_products();
template Products<double>& blas_products();

}  // namespace heed
