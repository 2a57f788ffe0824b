#include "math/blas.h"

#include <cblas.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "base/noise.h"
#include "base/std_names.h"
#include "math/lanes.h"

namespace heed {

// The allocator of OpenBLAS's kernels. It maps and keeps one buffer for each thread that is inside
// a product at the same time.
extern "C" {
void* blas_memory_alloc(int);
void blas_memory_free(void*);
// Its choice of kernels, if it was built with several.
[[gnu::weak]] void gotoblas_dynamic_init();
[[gnu::weak]] void gotoblas_dynamic_quit();
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
                      to_string(threads) + " threads, but there is room for " + to_string(i) + ".",
                  kMoreRoom);
    buffers.push_back(blas_memory_alloc(0));
  }
  for (void* buffer : buffers) blas_memory_free(buffer);
}

// Takes its kernels for a type of processor.
void choose_kernels(const string& core) {
  if (gotoblas_dynamic_init == nullptr) return;
  ::setenv("OPENBLAS_CORETYPE", core.c_str(), 1);
  gotoblas_dynamic_quit();
  gotoblas_dynamic_init();
}

// The type of processor whose kernels native arithmetic takes: OpenBLAS's choice, unless it does
// not know this processor. Then it has chosen those for SSE3.
string native_core() {
#ifdef __x86_64__
  if (blas_core_type() == "Prescott" && getenv("OPENBLAS_CORETYPE") == nullptr)
    return __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") ? "SkylakeX"
                                                                                    : "Haswell";
#endif
  return blas_core_type();
}

constexpr uint64_t kProducts = 0xdba03074bdd7c665, kFunctions = 0xb12d7547020e57b6;

template <class T>
uint64_t hash_of(uint64_t key, const vector<T>& numbers) {
  for (const double x : numbers) key = combine(key, std::bit_cast<uint64_t>(x));
  return key;
}

// Of shapes with every remainder of the kernels' blocks, some as long as several of these.
uint64_t hash_of_products() {
  vector<float> a(90'000), b(a.size()), c(10'000);
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = float(uniform01(1, i) - 0.5);
    b[i] = float(uniform01(2, i) - 0.5);
  }
  uint64_t hash = 0;
  for (int k = 1; k < 900; k += 19) {
    const int m = 1 + k % 61, n = 1 + k % 97;
    const auto left = as_is(Mat<float>(a.data(), m, k));
    gemm<float>(1, left, transposed(Mat<float>(b.data(), n, k)), k % 2, Mat<float>(c.data(), m, n));
    hash = hash_of(hash, c);
    syrk<float>(1, left, 0, Mat<float>(c.data(), m, m));
    hash = hash_of(hash, c);
  }
  return hash;
}

// In the ranges of first weights, schedules, Adam's corrections, positions and losses. The last is
// not 0 where fused multiply-add rounds once.
uint64_t hash_of_functions() {
  vector<double> all;
  for (uint64_t i = 0; i < 10'000; ++i) {
    const double u = uniform01(3, i), v = uniform01(4, i), angle = 10'000 * u * v;
    all.insert(all.end(), {exp(80 * (u - 0.5)), std::log(10'000 * u), pow(10'000, -u),
                           pow(0.8 + u / 5, std::floor(100'000 * v * v * v)),
                           pow(1 + std::floor(1e6 * u), v < 0.5 ? -0.5 : -1.5), std::sin(angle),
                           std::cos(angle), fuse(u, v, -u * v)});
  }
  return hash_of(0, all);
}

CBLAS_TRANSPOSE of_cblas(Op op) {
  return op == Op::none ? CblasNoTrans : CblasTrans;
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
  if (openblas_get_parallel() != OPENBLAS_THREAD)
    throw Error(Exit::usage, "heed's threads cannot share this OpenBLAS, which has not its own.",
                "install the pthread build: apt-get install libopenblas0-pthread, then "
                "update-alternatives --config libopenblas.so.0-$(uname -m)-linux-gnu");
  if (const string core = native_core(); core != blas_core_type()) choose_kernels(core);
  map_buffers(threads);
  openblas_set_num_threads(1);
}

void prepare_arithmetic(Arithmetic arithmetic, int threads) {
  if (arithmetic == Arithmetic::native) return prepare_blas(threads);
  const string before = native_core();
  choose_kernels("Haswell");
  prepare_blas(threads);
  const string others = hash_of_functions() != kFunctions
                            ? "the C library's functions or fused sums"
                        : hash_of_products() != kProducts ? "OpenBLAS's products"
                                                          : "";
  if (others.empty()) return;
  choose_kernels(before);
  throw Error(
      Exit::usage, "train.arithmetic portable: here " + others + " have other bits.",
      "Debian 12's or 13's libraries on an x86-64-v3 processor; or train.arithmetic native");
}

string portable_fault() try {
  prepare_arithmetic(Arithmetic::portable, 1);
  return "";
} catch (const Error& e) {
  return e.text();
}

string blas_core_type() {
  return openblas_get_corename();
}

string blas_info() {
  string config = openblas_get_config();
  while (config.ends_with(' ')) config.pop_back();
  const char* const threads[] = {"sequential", "pthreads", "OpenMP"};
  return "blas: " + config + "\nblas core type: " + blas_core_type() + " (" +
         threads[openblas_get_parallel()] + ")\n";
}

template <class T>
void gemm(type_identity_t<T> alpha, Operand<T> a, Operand<T> b, type_identity_t<T> beta, Mat<T> c) {
  const int m = c.rows, n = c.cols, k = a.cols();
  assert(a.rows() == m && b.cols() == n && b.rows() == k);
  if (m == 0 || n == 0) return;
  const auto multiply = std::get<is_same_v<T, double>>(std::tuple(&cblas_sgemm, &cblas_dgemm));
  multiply(CblasRowMajor, of_cblas(a.op), of_cblas(b.op), m, n, k, alpha, a.mat.data, a.mat.stride,
           b.mat.data, b.mat.stride, beta, c.data, c.stride);
}

template <class T>
void syrk(type_identity_t<T> alpha, Operand<T> a, type_identity_t<T> beta, Mat<T> c) {
  const int n = c.rows, k = a.cols();
  assert(c.cols == n && a.rows() == n);
  const auto multiply = std::get<is_same_v<T, double>>(std::tuple(&cblas_ssyrk, &cblas_dsyrk));
  multiply(CblasRowMajor, CblasUpper, of_cblas(a.op), n, k, alpha, a.mat.data, a.mat.stride, beta,
           c.data, c.stride);
  for (int i = 1; i < n; ++i)
    for (int j = 0; j < i; ++j) c(i, j) = c(j, i);
}

template void gemm(float, Operand<float>, Operand<float>, float, Mat<float>);
template void gemm(double, Operand<double>, Operand<double>, double, Mat<double>);
template void syrk(float, Operand<float>, float, Mat<float>);
template void syrk(double, Operand<double>, double, Mat<double>);

}  // namespace heed
