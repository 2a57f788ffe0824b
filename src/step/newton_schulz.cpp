#include "step/newton_schulz.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/std_names.h"
#include "math/lanes.h"
#include "math/row_ops.h"

namespace heed {
namespace {

constexpr int kIterations = 5;
// A share of the norm too small to matter. The momentum of a ReLU that never fires fades to numbers
// so small that processors take a hundred times as long to multiply them.
constexpr double kFaded = 1e-12;
constexpr double kSmallestNorm = 1e-18;  // a smaller one is not scaled up to 1
constexpr double kA = 3.4445, kB = -4.7750, kC = 2.0315;

// p = a I + b A + c A² of an A that is symmetric up to rounding.
template <class T>
void polynomial(const Products<T>& products, Mat<T> a, Mat<T> p) {
  copy_rows<T>(a, p);
  products.syrk(T(kC), as_is(a), T(kB), p);
  for (int i = 0; i < p.rows; ++i) p(i, i) += T(kA);
}

}  // namespace

template <class T>
void orthogonalize(Mat<T> x, const Products<T>& products, Workspace& workspace) {
  double squares = 0;
  for (int r = 0; r < x.rows; ++r) squares += sum_squares(x.row(r), x.cols);
  const T scale = T(1 / max(sqrt(squares), kSmallestNorm));
  for (int r = 0; r < x.rows; ++r)
    for (int c = 0; c < x.cols; ++c) {
      const T share = x(r, c) * scale;
      x(r, c) = std::abs(share) < T(kFaded) ? 0 : share;
    }

  // A tall X is used as its transpose would be: A = Xᵀ X, and P stands right of X.
  const bool tall = x.rows > x.cols;
  const int side = min(x.rows, x.cols), length = max(x.rows, x.cols);
  WorkspaceScope scope(workspace);
  const Mat<T> next = workspace.matrix<T>(x.rows, x.cols);
  Mat<T> a = workspace.matrix<T>(side, side), p = workspace.matrix<T>(side, side);
  const auto gram = [&] { products.syrk(1, tall ? transposed(x) : as_is(x), 0, a); };
  const auto multiply_x_by = [&](Mat<T> factor) {
    products.gemm(1, as_is(tall ? x : factor), as_is(tall ? factor : x), 0, next);
    copy_rows<T>(next, x);
  };
  if (length <= 2 * side) {
    for (int step = 0; step < kIterations; ++step) {
      gram();
      polynomial(products, a, p);
      multiply_x_by(p);
    }
    return;
  }
  Mat<T> q = workspace.matrix<T>(side, side), product = workspace.matrix<T>(side, side);
  gram();
  polynomial(products, a, q);
  copy_rows<T>(q, p);
  for (int step = 1; step < kIterations; ++step) {
    products.gemm(1, as_is(p), as_is(a), 0, product);
    products.gemm(1, as_is(product), as_is(p), 0, a);
    polynomial(products, a, p);
    products.gemm(1, as_is(p), as_is(q), 0, product);
    std::swap(q, product);
  }
  multiply_x_by(q);
}

template void orthogonalize(Mat<float>, const Products<float>&, Workspace&);
template void orthogonalize(Mat<double>, const Products<double>&, Workspace&);

}  // namespace heed
