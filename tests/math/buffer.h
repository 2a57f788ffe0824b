// Matrices for tests: a window on their own memory, with NaN between the rows, so that reads beyond
// the window show in the results, and writes there are detected.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/noise.h"
#include "math/mat.h"

namespace heed::test {

template <class T>
class Buffer {
 public:
  Buffer(int rows, int cols, int padding = 3)
      : numbers_(static_cast<std::size_t>(rows) * (cols + padding) + padding,
                 std::numeric_limits<T>::quiet_NaN()),
        mat_(numbers_.data(), rows, cols, cols + padding) {
    fill(T{0});
  }
  // Uniform in (-size, size); the same numbers for float and double.
  static Buffer random(int rows, int cols, std::uint64_t seed, double size = 1.0, int padding = 3) {
    Buffer b(rows, cols, padding);
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < cols; ++c)
        b(r, c) =
            static_cast<T>(static_cast<float>(size * (2 * uniform01(combine(seed, r), c) - 1)));
    return b;
  }
  Buffer(const Buffer& o) : numbers_(o.numbers_), mat_(o.mat_) { mat_.data = numbers_.data(); }
  Buffer& operator=(const Buffer&) = delete;

  void fill(T value) {
    for (int r = 0; r < mat_.rows; ++r)
      for (int c = 0; c < mat_.cols; ++c) mat_(r, c) = value;
  }
  T& operator()(int r, int c) { return mat_(r, c); }
  T operator()(int r, int c) const { return mat_(r, c); }
  int rows() const { return mat_.rows; }
  int cols() const { return mat_.cols; }
  Mat<T> mat() { return mat_; }
  Mat<const T> view() const { return mat_; }

  bool padding_untouched() const {
    const int stride = mat_.stride;
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
      const bool inside =
          static_cast<int>(i / stride) < mat_.rows && static_cast<int>(i % stride) < mat_.cols;
      if (!inside && !std::isnan(numbers_[i])) return false;
    }
    return true;
  }

 private:
  std::vector<T> numbers_;
  Mat<T> mat_;
};

// Every entry within `tolerance` of expected(r, c).
template <class T, class Expected>
void expect_near(const Buffer<T>& actual, Expected&& expected, double tolerance) {
  for (int r = 0; r < actual.rows(); ++r)
    for (int c = 0; c < actual.cols(); ++c)
      ASSERT_NEAR(actual(r, c), expected(r, c), tolerance) << "at (" << r << ", " << c << ")";
  EXPECT_TRUE(actual.padding_untouched());
}

// Rounding of a few operations on numbers near 1.
template <class T>
constexpr double kRounding = sizeof(T) == 4 ? 2e-6 : 2e-14;

}  // namespace heed::test
