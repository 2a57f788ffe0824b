#include "train/newton_schulz.h"

#include <algorithm>
#include <cmath>

#include "math/blas.h"
#include "math/row_ops.h"

namespace heed {
namespace {

constexpr int kSteps = 5;
constexpr double kSmallestNorm = 1e-30;  // 1 / norm must be a float
constexpr double kA = 3.4445, kB = -4.7750, kC = 2.0315;

template <class T>
double frobenius_norm(Mat<const T> x) {
  double squares = 0;
  for (int r = 0; r < x.rows; ++r)
    for (int c = 0; c < x.cols; ++c) squares += static_cast<double>(x(r, c)) * x(r, c);
  return std::sqrt(squares);
}

}  // namespace

template <class T>
void orthogonalize(Mat<T> x, Workspace& workspace) {
  const double norm = frobenius_norm<T>(x);
  if (norm < kSmallestNorm) return set_zero(x);
  const T scale = static_cast<T>(1.0 / norm);
  for (int r = 0; r < x.rows; ++r)
    for (int c = 0; c < x.cols; ++c) x(r, c) *= scale;

  // A tall X is used as its transpose would be: A = Xᵀ X, and the polynomial stands right of X.
  const bool tall = x.rows > x.cols;
  const int side = std::min(x.rows, x.cols);
  WorkspaceScope scope(workspace);
  const Mat<T> a = workspace.matrix<T>(side, side), polynomial = workspace.matrix<T>(side, side);
  const Mat<T> next = workspace.matrix<T>(x.rows, x.cols);
  for (int step = 0; step < kSteps; ++step) {
    if (tall)
      gemm<T>(1, transposed(x), as_is(x), 0, a);
    else
      gemm<T>(1, as_is(x), transposed(x), 0, a);
    copy_rows<T>(a, polynomial);
    gemm<T>(static_cast<T>(kC), as_is(a), as_is(a), static_cast<T>(kB), polynomial);  // b A + c A²
    copy_rows<T>(x, next);
    if (tall)
      gemm<T>(1, as_is(x), as_is(polynomial), static_cast<T>(kA), next);
    else
      gemm<T>(1, as_is(polynomial), as_is(x), static_cast<T>(kA), next);
    copy_rows<T>(next, x);
  }
}

template void orthogonalize(Mat<float>, Workspace&);
template void orthogonalize(Mat<double>, Workspace&);

}  // namespace heed
