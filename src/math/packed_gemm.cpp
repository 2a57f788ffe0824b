#include "math/packed_gemm.h"

#include <algorithm>

#include "math/lanes.h"

namespace heed {
namespace {

// A tile of C: 6 rows by 2 vectors fill the 16 registers, with two of B and one of A.
constexpr int kTileRows = 6, kTileVectors = 2;
template <class T>
constexpr int kPanel = kTileVectors* kLanes<T>;

// op(A) (r, i) is data[r * row_step + i * col_step].
template <class T>
struct Left {
  const T* data;
  std::ptrdiff_t row_step, col_step;
  Left from_row(int r) const { return {data + r * row_step, row_step, col_step}; }
};

template <class T>
Vector<T> all_lanes(T x) {
  return x - Vector<T>{};  // a broadcast: x - 0 is x, while 0 + x may not be
}

// C for R rows of A and one panel of B.
template <int R, class T>
void tile(int n, T alpha, Left<T> a, const T* panel, T beta, Mat<T> c) {
  constexpr int J = kTileVectors, L = kLanes<T>;
  Vector<T> sums[R][J] = {};
  for (int i = 0; i < n; ++i) {
    Vector<T> b[J];
#pragma GCC unroll 8
    for (int j = 0; j < J; ++j) {
      b[j] = load(panel + static_cast<std::ptrdiff_t>(i) * kPanel<T> + j * L);
      keep<T>(b[j]);
    }
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const Vector<T> x = all_lanes(a.data[r * a.row_step + i * a.col_step]);
#pragma GCC unroll 8
      for (int j = 0; j < J; ++j) sums[r][j] = fuse_lanes<T>(x, b[j], sums[r][j]);
    }
  }
  const Vector<T> factor = all_lanes(alpha), old_factor = all_lanes(beta);
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int j = 0; j < J; ++j) {
      T* p = c.row(r) + j * L;
      const int left = c.cols - j * L;
      if (left >= L) {
        const Vector<T> old = beta == 0 ? Vector<T>{} : old_factor * load(p);
        store<T>(fuse_lanes<T>(factor, sums[r][j], old), p);
      } else if (left > 0) {
        const Vector<T> old = beta == 0 ? Vector<T>{} : old_factor * load_tail(p, left);
        store_tail<T>(fuse_lanes<T>(factor, sums[r][j], old), p, left);
      }
    }
}

// C for one panel of B, R rows at a time; what is left over in a smaller tile.
template <int R, class T>
void tiles(int n, T alpha, Left<T> a, const T* panel, T beta, Mat<T> c) {
  int r = 0;
  for (; r + R <= c.rows; r += R)
    tile<R>(n, alpha, a.from_row(r), panel, beta, c.row_range(r, r + R));
  if constexpr (R > 1)
    if (r < c.rows) tiles<R - 1>(n, alpha, a.from_row(r), panel, beta, c.row_range(r, c.rows));
}

}  // namespace

template <class T>
PackedFactor<T> PackedFactor<T>::row_range(int begin, int end) const {
  assert(0 <= begin && begin <= end && end <= rows);
  return {data + static_cast<std::ptrdiff_t>(begin) * kPanel<T>, end - begin, cols, panel_rows};
}

template <class T>
PackedFactor<T> PackedFactor<T>::col_range(int end) const {
  assert(0 <= end && end <= (cols + kPanel<T> - 1) / kPanel<T> * kPanel<T>);
  return {data, rows, end, panel_rows};
}

template <class T>
PackedFactor<T> pack(Factor<T> b, Workspace& workspace) {
  constexpr int width = kPanel<T>;
  const int rows = b.rows(), cols = b.cols(), panels = (cols + width - 1) / width;
  const auto panel_size = static_cast<std::size_t>(rows) * width;
  T* const data = workspace.numbers<T>(panels * panel_size);
  for (int p = 0; p < panels; ++p) {
    T* const panel = data + p * panel_size;
    const int begin = p * width, n = std::min(width, cols - begin);
    if (n < width) std::fill_n(panel, panel_size, T{0});
    if (b.op == Op::transpose) {
      for (int c = 0; c < n; ++c) {
        const T* from = b.mat.row(begin + c);
        for (int r = 0; r < rows; ++r) panel[r * width + c] = from[r];
      }
    } else if (n == width) {  // of a fixed size, so that no library call is made
      for (int r = 0; r < rows; ++r)
        std::memcpy(panel + r * width, b.mat.row(r) + begin, width * sizeof(T));
    } else {
      for (int r = 0; r < rows; ++r) std::copy_n(b.mat.row(r) + begin, n, panel + r * width);
    }
  }
  return {data, rows, cols, rows};
}

template <class T>
void gemm(T alpha, Factor<T> a, PackedFactor<T> b, T beta, Mat<T> c) {
  const int n = a.cols();
  assert(a.rows() == c.rows && b.cols == c.cols && b.rows == n);
  const bool plain_a = a.op == Op::none;
  const Left<T> left{a.mat.data, plain_a ? a.mat.stride : 1, plain_a ? 1 : a.mat.stride};
  for (int j = 0; j < c.cols; j += kPanel<T>) {
    const T* panel = b.data + static_cast<std::ptrdiff_t>(j) * b.panel_rows;
    tiles<kTileRows>(n, alpha, left, panel, beta, c.col_range(j, std::min(c.cols, j + kPanel<T>)));
  }
}

#define HEED_INSTANTIATE(T)                             \
  template struct PackedFactor<T>;                      \
  template PackedFactor<T> pack(Factor<T>, Workspace&); \
  template void gemm(T, Factor<T>, PackedFactor<T>, T, Mat<T>);
HEED_INSTANTIATE(float)
HEED_INSTANTIATE(double)
#undef HEED_INSTANTIATE

}  // namespace heed
