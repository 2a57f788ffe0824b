#include "math/blas.h"

#include <cblas.h>

#include "base/error.h"

namespace heed {

void prepare_blas() {
  if (openblas_get_parallel() == 2)
    throw Error(Exit::usage,
                "This OpenBLAS was built with OpenMP, which heed's own threads cannot share.",
                "install the pthread build: apt-get install libopenblas0-pthread, then "
                "update-alternatives --config libopenblas.so.0-x86_64-linux-gnu");
  if (openblas_get_parallel() == 0)
    throw Error(Exit::usage, "This OpenBLAS was built without threads and without locks.",
                "install the pthread build: apt-get install libopenblas0-pthread");
  openblas_set_num_threads(1);
}

namespace {

void cblas_gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, float alpha,
                Mat<const float> a, Mat<const float> b, float beta, Mat<float> c) {
  cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, alpha, a.data, a.stride, b.data, b.stride, beta,
              c.data, c.stride);
}

void cblas_gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, double alpha,
                Mat<const double> a, Mat<const double> b, double beta, Mat<double> c) {
  cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, alpha, a.data, a.stride, b.data, b.stride, beta,
              c.data, c.stride);
}

}  // namespace

template <class T>
void gemm(T alpha, Factor<T> a, Factor<T> b, T beta, Mat<T> c) {
  const int m = c.rows, n = c.cols, k = a.cols();
  assert(a.rows() == m && b.cols() == n && b.rows() == k);
  if (m == 0 || n == 0) return;
  cblas_gemm(a.op == Op::none ? CblasNoTrans : CblasTrans,
             b.op == Op::none ? CblasNoTrans : CblasTrans, m, n, k, alpha, a.mat, b.mat, beta, c);
}

template void gemm(float, Factor<float>, Factor<float>, float, Mat<float>);
template void gemm(double, Factor<double>, Factor<double>, double, Mat<double>);

}  // namespace heed
