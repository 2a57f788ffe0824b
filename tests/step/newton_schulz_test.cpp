// Muon's orthogonalisation is its formula.
#include "step/newton_schulz.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/noise.h"

namespace heed {
namespace {

// The formula as it stands, with plain products; where X is longer than wide, X (XᵀX).
void newton_schulz(Mat<double> x, Workspace& workspace) {
  const bool tall = x.rows > x.cols;
  const int n = std::min(x.rows, x.cols);
  const Mat<double> a = workspace.matrix<double>(n, n), b = workspace.matrix<double>(n, n),
                    y = workspace.matrix<double>(x.rows, x.cols);
  double squares = 0;
  for (int r = 0; r < x.rows; ++r)
    for (int c = 0; c < x.cols; ++c) squares += x(r, c) * x(r, c);
  for (int r = 0; r < x.rows; ++r)
    for (int c = 0; c < x.cols; ++c) x(r, c) /= std::sqrt(squares);
  for (int step = 0; step < 5; ++step) {
    gemm(1.0, tall ? transposed(x) : as_is(x), tall ? as_is(x) : transposed(x), 0.0, a);
    copy_rows<double>(a, b);
    gemm(2.0315, as_is(a), as_is(a), -4.7750, b);
    copy_rows<double>(x, y);
    gemm(1.0, tall ? as_is(y) : as_is(b), tall ? as_is(b) : as_is(y), 3.4445, x);
  }
}

TEST(NewtonSchulz, IsTheFormulaOnAnyShape) {
  Workspace workspace;
  // Up to twice as long as wide, X itself is multiplied; beyond that, the small A.
  for (const auto& [rows, cols] : {std::pair{6, 6}, {11, 6}, {6, 12}, {6, 13}, {40, 5}, {1, 7}}) {
    std::vector<double> x(static_cast<std::size_t>(rows) * cols);
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = uniform01(noise_key(7, Purpose::probe), i) - 0.5;
    std::vector<double> same = x;
    orthogonalize(Mat<double>(x.data(), rows, cols), blas_products<double>(), workspace);
    newton_schulz({same.data(), rows, cols}, workspace);
    for (std::size_t i = 0; i < x.size(); ++i)
      ASSERT_NEAR(x[i], same[i], 1e-12) << rows << " x " << cols;
  }
}

// The momentum of a ReLU that never fires: its row fades, and is not multiplied as denormal
// numbers.
TEST(NewtonSchulz, AFadedRowIsZero) {
  Workspace workspace;
  std::vector<float> x(12 * 6), live;
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = float(uniform01(noise_key(7, Purpose::probe), i)) * (i / 6 == 4 ? 1e-36F : 1);
  live = x;
  std::fill_n(live.begin() + 24, 6, 0.0F);
  orthogonalize(Mat<float>(x.data(), 12, 6), blas_products<float>(), workspace);
  orthogonalize(Mat<float>(live.data(), 12, 6), blas_products<float>(), workspace);
  EXPECT_EQ(x, live);
  EXPECT_EQ(x[24], 0);
}

// A long matrix of low rank: the small A has eigenvalues far below its rounding errors.
TEST(NewtonSchulz, FloatStandsDirectionsThatAreMissing) {
  Workspace workspace;
  const int rows = 64, cols = 256;
  std::vector<double> y(rows * cols);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j)
      y[i * cols + j] = std::sin(i + 1) * std::cos(j) + 1e-3 * std::cos(i * i) * std::sin(3 * j);
  std::vector<float> x(y.begin(), y.end());
  orthogonalize(Mat<float>(x.data(), rows, cols), blas_products<float>(), workspace);
  orthogonalize(Mat<double>(y.data(), rows, cols), blas_products<double>(), workspace);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], y[i], 1e-4);
}

TEST(NewtonSchulz, ZerosAndWhatIsNearlyZeroBecomeZeros) {
  Workspace workspace;
  for (const float tiny : {0.0f, 1e-42f, 1e-39f}) {
    std::vector<float> x(12, tiny);
    orthogonalize(Mat<float>(x.data(), 3, 4), blas_products<float>(), workspace);
    EXPECT_EQ(x, std::vector<float>(12)) << tiny;
  }
  std::vector<float> faint(12, 1e-24f);
  orthogonalize(Mat<float>(faint.data(), 3, 4), blas_products<float>(), workspace);
  EXPECT_GT(faint[0], 0);
  EXPECT_LT(faint[0], 0.01);
}

}  // namespace
}  // namespace heed
