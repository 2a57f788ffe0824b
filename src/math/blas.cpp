#include "math/blas.h"

#include <cblas.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/std_names.h"

namespace heed {

// The allocator of OpenBLAS's kernels. It maps and keeps one buffer for each thread that is inside
// a product at the same time.
extern "C" {
void* blas_memory_alloc(int);
void blas_memory_free(void*);
}

namespace {

constexpr size_t kBuffer = 128u << 20;  // what OpenBLAS maps
constexpr const char* kMoreRoom =
    "fewer --threads, or less strict limits: ulimit -v unlimited, ulimit -d unlimited, "
    "vm.overcommit_memory 0";

bool has_room(size_t bytes) {
  void* room = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return room != MAP_FAILED && ::munmap(room, bytes) == 0;
}

// All buffers are mapped here, after checking that each fits.
void map_buffers(int threads) {
  constexpr int kMost = 128;  // OpenBLAS warns if there are more, which is unlikely
  vector<void*> buffers;
  for (int i = 0; i < min(threads, kMost); ++i) {
    if (!has_room(kBuffer))
      throw Error(Exit::memory,
                  "not enough memory: OpenBLAS needs 128 MiB of address space for each of " +
                      to_string(threads) + " threads, but there is room for " +
                      (i == 0 ? "none." : "only " + to_string(i) + "."),
                  kMoreRoom);
    buffers.push_back(blas_memory_alloc(0));
  }
  for (void* buffer : buffers) blas_memory_free(buffer);
}

}  // namespace

void require_room_for_blas() {
  constexpr size_t kLibraries = 8u << 20;  // what they take meanwhile
  if (has_room(kBuffer + kLibraries)) return;
  for (const char* part : {"heed: error: not enough memory: OpenBLAS needs 128 MiB of address "
                           "space for each thread.\n  try: ",
                           kMoreRoom, "\n"})
    (void)!::write(STDERR_FILENO, part, std::strlen(part));
  ::_exit(int(Exit::memory));
}

void prepare_blas(int threads) {
  if (openblas_get_parallel() == 2)
    throw Error(Exit::usage,
                "this OpenBLAS was built with OpenMP, which heed's threads cannot share.",
                "install the pthread build: apt-get install libopenblas0-pthread, then "
                "update-alternatives --config libopenblas.so.0-$(uname -m)-linux-gnu");
  if (openblas_get_parallel() == 0)
    throw Error(Exit::usage, "this OpenBLAS was built without threads and without locks.",
                "install the pthread build: apt-get install libopenblas0-pthread");
  map_buffers(threads);
  openblas_set_num_threads(1);
}

string blas_core_type() {
  return openblas_get_corename();
}

string blas_info() {
  string config = openblas_get_config();
  while (config.ends_with(' ')) config.pop_back();
  const int parallel = openblas_get_parallel();
  const char* threading = parallel == OPENBLAS_SEQUENTIAL ? "sequential"
                          : parallel == OPENBLAS_THREAD   ? "pthreads"
                                                          : "OpenMP";
  return "blas: " + config + "\nblas core type: " + blas_core_type() + " (" + threading + ")\n";
}

template <class T>
void gemm(std::type_identity_t<T> alpha, Operand<T> a, Operand<T> b, std::type_identity_t<T> beta,
          Mat<T> c) {
  const int m = c.rows, n = c.cols, k = a.cols();
  assert(a.rows() == m && b.cols() == n && b.rows() == k);
  if (m == 0 || n == 0) return;
  const auto ta = a.op == Op::none ? CblasNoTrans : CblasTrans;
  const auto tb = b.op == Op::none ? CblasNoTrans : CblasTrans;
  const auto multiply = [&](auto cblas_gemm) {
    cblas_gemm(CblasRowMajor, ta, tb, m, n, k, alpha, a.mat.data, a.mat.stride, b.mat.data,
               b.mat.stride, beta, c.data, c.stride);
  };
  if constexpr (std::is_same_v<T, float>)
    multiply(cblas_sgemm);
  else
    multiply(cblas_dgemm);
}

template <class T>
void syrk(std::type_identity_t<T> alpha, Operand<T> a, std::type_identity_t<T> beta, Mat<T> c) {
  const int n = c.rows, k = a.cols();
  assert(c.cols == n && a.rows() == n);
  const auto ta = a.op == Op::none ? CblasNoTrans : CblasTrans;
  const auto multiply = [&](auto cblas_syrk) {
    cblas_syrk(CblasRowMajor, CblasUpper, ta, n, k, alpha, a.mat.data, a.mat.stride, beta, c.data,
               c.stride);
  };
  if constexpr (std::is_same_v<T, float>)
    multiply(cblas_ssyrk);
  else
    multiply(cblas_dsyrk);
  for (int i = 1; i < n; ++i)
    for (int j = 0; j < i; ++j) c(i, j) = c(j, i);
}

template void gemm(float, Operand<float>, Operand<float>, float, Mat<float>);
template void gemm(double, Operand<double>, Operand<double>, double, Mat<double>);
template void syrk(float, Operand<float>, float, Mat<float>);
template void syrk(double, Operand<double>, double, Mat<double>);

}  // namespace heed
