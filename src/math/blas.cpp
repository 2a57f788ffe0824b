#include "math/blas.h"

#include <cblas.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>

#include "base/error.h"
#include "base/pool.h"

namespace heed {

namespace {

// OpenBLAS retries mmap forever where RLIMIT_AS leaves no room for its buffers.
void require_addresses(int threads) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const std::uint64_t used = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  // A thread's buffer is 128 MiB, its heap 64, its stack 8.
  const std::uint64_t needed = static_cast<std::uint64_t>(threads) * (200u << 20);
  if (used + needed <= limit.rlim_cur) return;
  throw Error(Exit::memory,
              "the address space limit (ulimit -v) is " + std::to_string(limit.rlim_cur >> 20) +
                  " MiB; heed needs about " + std::to_string((used + needed) >> 20) + " MiB.",
              "ulimit -v unlimited");
}

}  // namespace

void prepare_blas(int threads) {
  require_addresses(std::max(threads, available_cores()));
  if (openblas_get_parallel() == 2)
    throw Error(Exit::usage,
                "this OpenBLAS was built with OpenMP, which heed's threads cannot share.",
                "install the pthread build: apt-get install libopenblas0-pthread, then "
                "update-alternatives --config libopenblas.so.0-x86_64-linux-gnu");
  if (openblas_get_parallel() == 0)
    throw Error(Exit::usage, "this OpenBLAS was built without threads and without locks.",
                "install the pthread build: apt-get install libopenblas0-pthread");
  openblas_set_num_threads(1);
}

std::string blas_info() {
  std::string config = openblas_get_config();
  while (config.ends_with(' ')) config.pop_back();
  const int parallel = openblas_get_parallel();
  const char* threading = parallel == OPENBLAS_SEQUENTIAL ? "sequential"
                          : parallel == OPENBLAS_THREAD   ? "pthreads"
                                                          : "OpenMP";
  return "blas: " + config + "\nblas core type: " + openblas_get_corename() + " (" + threading +
         ")\n";
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
void gemm(std::type_identity_t<T> alpha, Operand<T> a, Operand<T> b, std::type_identity_t<T> beta,
          Mat<T> c) {
  const int m = c.rows, n = c.cols, k = a.cols();
  assert(a.rows() == m && b.cols() == n && b.rows() == k);
  if (m == 0 || n == 0) return;
  cblas_gemm(a.op == Op::none ? CblasNoTrans : CblasTrans,
             b.op == Op::none ? CblasNoTrans : CblasTrans, m, n, k, alpha, a.mat, b.mat, beta, c);
}

template void gemm(float, Operand<float>, Operand<float>, float, Mat<float>);
template void gemm(double, Operand<double>, Operand<double>, double, Mat<double>);

}  // namespace heed
