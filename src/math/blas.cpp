#include "math/blas.h"

#include <cblas.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

#include "base/error.h"

namespace heed {

// The allocator of OpenBLAS's kernels. It maps and keeps one buffer for each thread that is inside
// a product at the same time.
extern "C" {
void* blas_memory_alloc(int);
void blas_memory_free(void*);
}

namespace {

constexpr std::size_t kBuffer = 128u << 20;  // what OpenBLAS maps
constexpr const char* kMoreRoom =
    "fewer --threads, or less strict limits: ulimit -v unlimited, ulimit -d unlimited, "
    "vm.overcommit_memory 0";

// Room for a buffer, or MAP_FAILED.
void* map_buffer() {
  return ::mmap(nullptr, kBuffer, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

// For signal handlers.
void end_with(Exit exit, std::initializer_list<const char*> message) {
  for (const char* part : message) (void)!::write(STDERR_FILENO, part, std::strlen(part));
  ::_exit(static_cast<int>(exit));
}

void end_if_there_is_no_room(int) {
  void* room = map_buffer();
  if (room == MAP_FAILED)
    end_with(Exit::memory,
             {"heed: error: not enough memory: OpenBLAS needs 128 MiB of address space for each "
              "thread.\n  try: ",
              kMoreRoom, "\n"});
  ::munmap(room, kBuffer);
}

// All buffers are mapped here, after checking that each fits.
void map_buffers(int threads) {
  constexpr int kMost = 128;  // OpenBLAS warns if there are more, which is unlikely
  std::vector<void*> buffers;
  for (int i = 0; i < std::min(threads, kMost); ++i) {
    void* room = map_buffer();
    if (room == MAP_FAILED)
      throw Error(Exit::memory,
                  "not enough memory: OpenBLAS needs 128 MiB of address space for each of " +
                      std::to_string(threads) + " threads, but there is room for " +
                      (i == 0 ? "none." : "only " + std::to_string(i) + "."),
                  kMoreRoom);
    ::munmap(room, kBuffer);
    buffers.push_back(blas_memory_alloc(0));
  }
  for (void* buffer : buffers) blas_memory_free(buffer);
}

// OPENBLAS_CORETYPE, which may name kernels that this processor cannot run.
const char* chosen_kernels = nullptr;

void end_for_chosen_kernels(int) {
  end_with(Exit::usage,
           {"heed: error: this processor cannot run the kernels that OPENBLAS_CORETYPE names, ",
            chosen_kernels, ".\n  try: unset OPENBLAS_CORETYPE\n"});
}

// Tries them now, before a run folder is made.
void try_chosen_kernels() {
  chosen_kernels = std::getenv("OPENBLAS_CORETYPE");
  if (chosen_kernels == nullptr) return;
  std::signal(SIGILL, end_for_chosen_kernels);
  const auto multiply = []<class T>(std::vector<T> a, std::vector<T> c) {
    const auto x = as_is(Mat<const T>(a.data(), 64, 64));
    gemm<T>(1, x, x, 0, Mat<T>(c.data(), 64, 64));
    syrk<T>(1, x, 0, Mat<T>(c.data(), 64, 64));
  };
  constexpr std::size_t kSize = 64 * 64;
  multiply(std::vector<float>(kSize), std::vector<float>(kSize));
  multiply(std::vector<double>(kSize), std::vector<double>(kSize));
}

}  // namespace

void watch_blas_buffers(bool on) {
  const timeval period{on ? 1 : 0, 0};
  const itimerval timer{period, period};
  if (on) std::signal(SIGPROF, end_if_there_is_no_room);
  ::setitimer(ITIMER_PROF, &timer, nullptr);
  if (!on) std::signal(SIGPROF, SIG_DFL);
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
  watch_blas_buffers(true);
  map_buffers(threads);
  watch_blas_buffers(false);
  try_chosen_kernels();
  openblas_set_num_threads(1);
}

std::string blas_core_type() {
  return openblas_get_corename();
}

std::string blas_info() {
  std::string config = openblas_get_config();
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
