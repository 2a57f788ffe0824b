// The matrix products of the layers, the output layer and muon, and the only file that uses CBLAS;
// the door (math/products.h) is the only one that calls it. heed has two products of its own:
// packed_gemm.h for the heads of attention, batch_invariant.h for decoding.
//
// OpenBLAS runs single-threaded; heed's threads call it in parallel. That needs a build that locks
// its buffers: the pthread build (openblas_get_parallel() == 1).
//
// train.arithmetic is whose bits the numbers of a run have. heed's own kernels have the same bits
// in every build (lanes.h). OpenBLAS has kernels for many types of processor, which round
// differently; `portable` takes those for Haswell, which every x86-64-v3 processor can run and
// which are the same in versions 0.3.21 and 0.3.29. Of the C library training uses exp, log, pow,
// sin and cos in double, the same in glibc 2.36 and 2.41.
#pragma once

#include <string>
#include <type_traits>

#include "base/std_names.h"
#include "math/mat.h"

namespace heed {

// Makes OpenBLAS single-threaded and maps its buffers for products on `threads` threads at once.
// A processor newer than OpenBLAS gets the kernels of its predecessors: those that OpenBLAS takes
// are for SSE3, and a step of gpt.json takes twice as long (0.3.21 on Intel's Emerald Rapids).
// Call it before the first product. Error (usage) on a build that several threads cannot
// call; Error (memory) if there is no room for the buffers.
void prepare_blas(int threads = 1);

enum class Arithmetic { native, portable };

// prepare_blas(), and for portable arithmetic Haswell's kernels, whatever OPENBLAS_CORETYPE says,
// for the rest of the process. Error (usage) if products or functions have other bits then: the
// process has the kernels that it had.
void prepare_arithmetic(Arithmetic arithmetic, int threads);

// Why there is no portable arithmetic here; "": the process has it from now on.
string portable_fault();

// If OpenBLAS cannot map a buffer, it tries for ever (OpenBLAS issue 5289), since 0.3.22 or so when
// it is loaded. Call this before: it ends the process with a message and exit code 7 where there is
// no room for a buffer.
void require_room_for_blas();

// Two lines for --version: the build of OpenBLAS, and the processor whose kernels it chose.
//   blas: OpenBLAS 0.3.21 DYNAMIC_ARCH ... Haswell MAX_THREADS=64
//   blas core type: Haswell (pthreads)
string blas_info();
// The processor whose kernels OpenBLAS chose: "Haswell". Other kernels round differently.
string blas_core_type();

// C = alpha * op(A) op(B) + beta * C, row-major; op(A) is A or Aᵀ. T is float or double.
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
void gemm(type_identity_t<T> alpha, Operand<T> a, Operand<T> b, type_identity_t<T> beta, Mat<T> c);
// C = alpha * op(A) op(A)ᵀ + beta * C for a symmetric C, with about half of gemm's operations.
template <class T>
void syrk(type_identity_t<T> alpha, Operand<T> a, type_identity_t<T> beta, Mat<T> c);

}  // namespace heed
