#include "math/products.h"

#include "math/batch_invariant.h"
#include "math/blas.h"
#include "math/row_ops.h"

namespace heed {

template <class T>
void Products<T>::forward(In<T> x, In<T> w, In<T> b, Mat<T> y) const {
  if (!b.empty()) fill_rows(b, y);
  gemm(1, as_is(x), transposed(w), b.empty() ? 0 : 1, y);
}

template <class T>
void Products<T>::input_gradient(In<T> dy, In<T> w, Mat<T> dx) const {
  gemm(1, as_is(dy), as_is(w), 1, dx);
}

template <class T>
void Products<T>::weight_gradient(In<T> dy, In<T> x, Mat<T> dw) const {
  gemm(1, transposed(dy), as_is(x), 1, dw);
}

template <class T>
void Products<T>::attend(const AttentionHead<T>& head, Mat<T> o, Workspace& workspace) const {
  head_forward(head, o, workspace);
}

template <class T>
void Products<T>::attend_backward(const AttentionHead<T>& head, In<T> d_o,
                                  const HeadGradients<T>& to, Workspace& workspace) const {
  head_backward(head, d_o, to, workspace);
}

template <class T>
void RowProducts<T>::forward(In<T> x, In<T> w, In<T> b, Mat<T> y) const {
  batch_invariant_linear(x, w, b, y, pool_);
}

template <class T>
const Products<T>& blas_products() {
  static const Products<T> products;
  return products;
}

template class Products<float>;
template class Products<double>;
template class RowProducts<float>;
template class RowProducts<double>;
template const Products<float>& blas_products();
template const Products<double>& blas_products();

}  // namespace heed
