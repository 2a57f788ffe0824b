// Muon's orthogonalisation is its formula.
#include "step/newton_schulz.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/noise.h"

namespace heed {
namespace {

// Number by number.
using Rows = std::vector<std::vector<double>>;
Rows product(const Rows& a, const Rows& b) {
  Rows c(a.size(), std::vector<double>(b[0].size()));
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < b[0].size(); ++j)
      for (std::size_t k = 0; k < b.size(); ++k) c[i][j] += a[i][k] * b[k][j];
  return c;
}
Rows turned(const Rows& a) {
  Rows t(a[0].size(), std::vector<double>(a.size()));
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < a[0].size(); ++j) t[j][i] = a[i][j];
  return t;
}
Rows newton_schulz(Rows x) {
  double squares = 0;
  for (const auto& row : x)
    for (const double v : row) squares += v * v;
  for (auto& row : x)
    for (double& v : row) v /= std::sqrt(squares);
  const bool tall = x.size() > x[0].size();
  if (tall) x = turned(x);
  for (int step = 0; step < 5; ++step) {
    const Rows a = product(x, turned(x)), aa = product(a, a);
    Rows b = a;
    for (std::size_t i = 0; i < a.size(); ++i)
      for (std::size_t j = 0; j < a.size(); ++j) b[i][j] = -4.7750 * a[i][j] + 2.0315 * aa[i][j];
    const Rows bx = product(b, x);
    for (std::size_t i = 0; i < x.size(); ++i)
      for (std::size_t j = 0; j < x[0].size(); ++j) x[i][j] = 3.4445 * x[i][j] + bx[i][j];
  }
  return tall ? turned(x) : x;
}

TEST(NewtonSchulz, IsTheFormulaOnAnyShape) {
  Workspace workspace;
  // Up to twice as long as wide, X itself is multiplied; beyond that, the small A.
  for (const auto& [rows, cols] : {std::pair{6, 6}, {11, 6}, {6, 12}, {6, 13}, {40, 5}, {1, 7}}) {
    std::vector<double> x(static_cast<std::size_t>(rows) * cols);
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = uniform01(noise_key(7, Purpose::probe), i) - 0.5;
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

TEST(NewtonSchulz, ZerosAndWhatIsNearlyZeroBecomeZeros) {
  Workspace workspace;
  for (const float tiny : {0.0f, 1e-42f, 1e-39f}) {
    std::vector<float> x(12, tiny);
    orthogonalize(Mat<float>(x.data(), 3, 4), blas_products<float>(), workspace);
    EXPECT_EQ(x, std::vector<float>(12)) << tiny;
  }
}

}  // namespace
}  // namespace heed
