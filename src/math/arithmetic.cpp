#include "math/arithmetic.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "base/error.h"
#include "base/noise.h"
#include "base/std_names.h"
#include "math/blas.h"
#include "math/lanes.h"

namespace heed {

// OpenBLAS's choice of kernels, if it was built with several.
extern "C" {
[[gnu::weak]] void gotoblas_dynamic_init();
[[gnu::weak]] void gotoblas_dynamic_quit();
}

namespace {

constexpr uint64_t kProducts = 0xdba03074bdd7c665, kFunctions = 0xb12d7547020e57b6;

template <class T>
uint64_t hash_of(uint64_t key, const vector<T>& numbers) {
  for (const double x : numbers) key = combine(key, std::bit_cast<uint64_t>(x));
  return key;
}

// Of shapes with every remainder of the kernels' blocks, some as long as several of these.
uint64_t hash_of_products() {
  vector<float> a(90'000), b(a.size()), c(10'000);
  for (size_t i = 0; i < a.size(); ++i) a[i] = float(uniform01(1, i) - 0.5);
  for (size_t i = 0; i < b.size(); ++i) b[i] = float(uniform01(2, i) - 0.5);
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
    all.insert(all.end(), {std::exp(80 * (u - 0.5)), std::log(10'000 * u), std::pow(10'000, -u),
                           std::pow(0.8 + u / 5, std::floor(100'000 * v * v * v)),
                           std::pow(1 + std::floor(1e6 * u), v < 0.5 ? -0.5 : -1.5),
                           std::sin(angle), std::cos(angle), fuse(u, v, -u * v)});
  }
  return hash_of(0, all);
}

}  // namespace

void prepare_arithmetic(Arithmetic arithmetic, int threads) {
  if (arithmetic == Arithmetic::native) return prepare_blas(threads);
  const auto require = [](bool same, const string& what) {
    if (same) return;
    throw Error(
        Exit::usage, "train.arithmetic portable: here " + what + " have other bits.",
        "Debian 12's or 13's libraries on an x86-64-v3 processor; or train.arithmetic native");
  };
  require(hash_of_functions() == kFunctions, "the C library's functions or fused sums");
  if (gotoblas_dynamic_init != nullptr) {
    ::setenv("OPENBLAS_CORETYPE", "Haswell", 1);
    gotoblas_dynamic_quit();
    gotoblas_dynamic_init();
  }
  prepare_blas(threads);
  require(hash_of_products() == kProducts, "OpenBLAS's products");
}

string portable_info() {
  try {
    prepare_arithmetic(Arithmetic::portable, 1);
    return "available";
  } catch (const Error& e) {
    return e.text();
  }
}

}  // namespace heed
