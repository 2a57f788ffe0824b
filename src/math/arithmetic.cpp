#include "math/arithmetic.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "base/noise.h"
#include "math/blas.h"
#include "math/lanes.h"

namespace heed {

// OpenBLAS's choice of kernels, if it was built with several.
extern "C" {
[[gnu::weak]] void gotoblas_dynamic_init();
[[gnu::weak]] void gotoblas_dynamic_quit();
}

namespace {

constexpr std::uint64_t kProductBits = 0x01d7b210f48aab2c, kFunctionBits = 0x2c0f5a3ddc3c7107;

class HashedBits {
 public:
  template <class T>
  void add(T x) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    hash_ = combine(hash_, std::bit_cast<Bits>(x));
  }
  std::uint64_t get() const { return hash_; }

 private:
  std::uint64_t hash_ = 0;
};

template <class T>
std::vector<T> drawn(int rows, int cols, std::uint64_t key) {
  std::vector<T> numbers(static_cast<std::size_t>(rows) * cols);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<T>(2 * uniform01(key, i) - 1);
  return numbers;
}

// Shapes with every remainder of the kernels' blocks, and as long as several of them.
template <class T>
void hash_products(HashedBits& bits) {
  for (std::uint64_t shape = 0; shape < 64; ++shape) {
    const auto size = [&](int i, int most) {
      return 1 + static_cast<int>(noise32(shape, i) % most);
    };
    const int m = size(0, 100), n = size(1, 100), k = size(2, shape % 4 == 0 ? 900 : 70);
    const std::vector<T> a = drawn<T>(m, k, 3 * shape), b = drawn<T>(k, n, 3 * shape + 1);
    std::vector<T> c = drawn<T>(m, n, 3 * shape + 2), square(static_cast<std::size_t>(m) * m);
    const auto operand = [](const std::vector<T>& x, int rows, int cols, bool turned) {
      return turned ? transposed(Mat<const T>(x.data(), cols, rows))
                    : as_is(Mat<const T>(x.data(), rows, cols));
    };
    const auto left = operand(a, m, k, shape & 1);
    gemm<T>(1, left, operand(b, k, n, shape & 2), shape & 4 ? 1 : 0, Mat<T>(c.data(), m, n));
    syrk<T>(1, left, 0, Mat<T>(square.data(), m, m));
    for (const T x : c) bits.add(x);
    for (const T x : square) bits.add(x);
  }
}

std::uint64_t product_bits() {
  HashedBits bits;
  hash_products<float>(bits);
  hash_products<double>(bits);
  return bits.get();
}

// In the ranges of first weights, schedules, Adam's corrections, positions and losses.
std::uint64_t function_bits() {
  HashedBits bits;
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    const double u = uniform01(1, i), v = uniform01(2, i), angle = 10'000 * u * v;
    for (const double x : {std::exp(80 * (u - 0.5)), std::log(u), std::log(10'000 * u),
                           std::pow(0.8 + u / 5, std::floor(1e5 * v * v)), std::pow(10'000, -u),
                           std::pow(1 + std::floor(1e6 * u), v < 0.5 ? -0.5 : -1.5),
                           std::sin(angle), std::cos(angle), std::cos(7 * u)})
      bits.add(x);
    const auto a = static_cast<float>(u), b = static_cast<float>(v);
    bits.add(fuse(a, b, -a * b));
  }
  return bits.get();
}

void take_haswells_kernels() {
  if (gotoblas_dynamic_init == nullptr) return;
  ::setenv("OPENBLAS_CORETYPE", "Haswell", 1);
  gotoblas_dynamic_quit();
  gotoblas_dynamic_init();
}

}  // namespace

void prepare_arithmetic(Arithmetic arithmetic, int threads) {
  if (arithmetic == Arithmetic::portable) take_haswells_kernels();
  prepare_blas(threads);
  if (arithmetic == Arithmetic::native) return;
  const auto require = [](bool equal, const std::string& what) {
    if (!equal)
      throw Error(Exit::usage,
                  "train.arithmetic portable promises equal bytes everywhere, but here " + what,
                  "Debian 12's or 13's OpenBLAS and C library on an x86-64-v3 processor, or, for a "
                  "new run, train.arithmetic native");
  };
  require(
      function_bits() == kFunctionBits,
      "the C library's exp, log, pow, sin, cos or the processor's fused multiply-add have other "
      "bits.");
  require(product_bits() == kProductBits,
          "products have other bits than with the kernels for Haswell (" + blas_core_type() + ").");
}

std::string portable_info() {
  try {
    prepare_arithmetic(Arithmetic::portable);
    return "available";
  } catch (const Error& e) {
    return e.text();
  }
}

}  // namespace heed
