// The matrix products of layers and output layer (nn/linear.cpp is their only caller in a step),
// and the only user of CBLAS. Two others are heed's own: packed_gemm.h for the heads of attention,
// batch_invariant.h for decoding.
//
// OpenBLAS runs single-threaded here; heed's own workers run side by side. That needs a build that
// locks its buffers: the pthread flavour (openblas_get_parallel() == 1).
#pragma once

#include <type_traits>

#include "math/mat.h"

namespace heed {

// Makes OpenBLAS single-threaded and lets it take its buffers for products on so many threads at
// once; call before the first product. Error (usage) on a build that cannot be called from several
// threads; (memory) if there is no room for the buffers.
void prepare_blas(int threads = 1);

// C = alpha * op(A) op(B) + beta * C, row-major. An op may be a transpose. T is float or double.
enum class Op { none, transpose };
template <class T>
struct Operand {
  Mat<const T> mat;
  Op op = Op::none;
  int rows() const { return op == Op::none ? mat.rows : mat.cols; }
  int cols() const { return op == Op::none ? mat.cols : mat.rows; }
};
template <class T>
Operand<std::remove_const_t<T>> as_is(Mat<T> m) {
  return {m, Op::none};
}
template <class T>
Operand<std::remove_const_t<T>> transposed(Mat<T> m) {
  return {m, Op::transpose};
}

template <class T>
void gemm(std::type_identity_t<T> alpha, Operand<T> a, Operand<T> b, std::type_identity_t<T> beta,
          Mat<T> c);

}  // namespace heed
