// Muon's orthogonalisation: its formula, and what it does to singular values.
#include "step/newton_schulz.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/noise.h"
#include "step/newton_schulz_twin.h"

namespace heed {
namespace {

// || Xᵀ X - I || over the short side, in the largest element.
template <class T>
double distance_from_orthogonal(Mat<T> x) {
  const bool tall = x.rows > x.cols;
  const int side = std::min(x.rows, x.cols), inner = std::max(x.rows, x.cols);
  double worst = 0;
  for (int i = 0; i < side; ++i)
    for (int j = 0; j < side; ++j) {
      double dot = 0;
      for (int k = 0; k < inner; ++k) dot += tall ? x(k, i) * x(k, j) : x(i, k) * x(j, k);
      worst = std::max(worst, std::abs(dot - (i == j)));
    }
  return worst;
}

template <class T>
std::vector<T> random_matrix(int rows, int cols) {
  std::vector<T> x(static_cast<std::size_t>(rows) * cols);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<T>(uniform01(noise_key(7, Purpose::probe), i) - 0.5);
  return x;
}

TEST(NewtonSchulz, IsTheFormulaOnAnyShape) {
  Workspace workspace;
  for (const auto& [rows, cols] : {std::pair{6, 6},
                                   {6, 11},
                                   {11, 6},
                                   {6, 12},
                                   {12, 6},
                                   {6, 13},
                                   {13, 6},
                                   {5, 40},
                                   {40, 5},
                                   {1, 7}}) {
    std::vector<double> x = random_matrix<double>(rows, cols);
    Rows same(rows);
    for (int i = 0; i < rows; ++i) same[i] = {x.begin() + i * cols, x.begin() + (i + 1) * cols};
    const Mat<double> m(x.data(), rows, cols);
    orthogonalize(m, blas_products<double>(), workspace);
    same = newton_schulz(same);
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < cols; ++j)
        ASSERT_NEAR(m(i, j), same[i][j], 1e-12) << rows << " x " << cols;
  }
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

TEST(NewtonSchulz, MovesAllDirectionsAboutEquallyFar) {
  Workspace workspace;
  for (const auto& [rows, cols] : {std::pair{5, 40}, {40, 5}, {1, 7}}) {
    std::vector<double> x = random_matrix<double>(rows, cols);
    const Mat<double> m(x.data(), rows, cols);
    orthogonalize(m, blas_products<double>(), workspace);
    // Singular values between 0.68 and 1.21: squares are off 1 by at most 0.54.
    EXPECT_LT(distance_from_orthogonal(m), 0.54) << rows << " x " << cols;
  }
}

TEST(NewtonSchulz, KeepsTheDirectionsOfADiagonalMatrix) {
  Workspace workspace;
  std::vector<double> x{3, 0, 0, 0, -0.5, 0, 0, 0, 0.1};
  orthogonalize(Mat<double>(x.data(), 3, 3), blas_products<double>(), workspace);
  for (const int i : {1, 2, 3, 5, 6, 7}) EXPECT_EQ(x[i], 0);
  EXPECT_NEAR(x[0], 1, 0.33);
  EXPECT_NEAR(x[4], -1, 0.33);
  EXPECT_NEAR(x[8], 1, 0.33);
}

TEST(NewtonSchulz, DoesNotDependOnTheLengthOfTheGradient) {
  Workspace workspace;
  std::vector<double> x = random_matrix<double>(6, 4), y = x;
  for (double& v : y) v *= 1e-9;
  orthogonalize(Mat<double>(x.data(), 6, 4), blas_products<double>(), workspace);
  orthogonalize(Mat<double>(y.data(), 6, 4), blas_products<double>(), workspace);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], y[i], 1e-12);
}

TEST(NewtonSchulz, ZerosAndWhatIsNearlyZeroBecomeZeros) {
  Workspace workspace;
  for (const float tiny : {0.0f, 1e-42f, 1e-39f}) {
    std::vector<float> x(12, tiny);
    orthogonalize(Mat<float>(x.data(), 3, 4), blas_products<float>(), workspace);
    EXPECT_EQ(x, std::vector<float>(12)) << tiny;
  }
}

TEST(NewtonSchulz, FloatAgreesWithDouble) {
  Workspace workspace;
  for (const int cols : {30, 96}) {
    std::vector<float> x = random_matrix<float>(24, cols);
    std::vector<double> y(x.begin(), x.end());
    orthogonalize(Mat<float>(x.data(), 24, cols), blas_products<float>(), workspace);
    orthogonalize(Mat<double>(y.data(), 24, cols), blas_products<double>(), workspace);
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], y[i], 1e-5) << cols;
  }
}

}  // namespace
}  // namespace heed
