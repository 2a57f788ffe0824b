#include "math/packed_gemm.h"

#include <algorithm>

#include "base/std_names.h"
#include "math/lanes.h"

namespace heed {
namespace {

// A tile of C: 6 rows of 64 bytes fill AVX's 16 registers, or NEON's 32, with a row of B and one of
// A.
constexpr int kTileRows = 6, kTileVectors = 64 / kVectorBytes;
template <class T>
constexpr int kPanel = kTileVectors* kVectorSize<T>;

// op(A) (r, i) is data[r * row_step + i * col_step].
template <class T>
struct Left {
  const T* data;
  ptrdiff_t row_step, col_step;
  Left from_row(int r) const { return {data + r * row_step, row_step, col_step}; }
};

template <class T>
Vector<T> all_lanes(T x) {
  return x - Vector<T>{};  // a broadcast: x - 0 is x, while 0 + x may not be
}

// C for R rows of A and one panel of B. Not inlined: in a larger function GCC 12 keeps one of the
// sums in memory, and attention takes 1.35 times as long (AVX-512, 64 numbers a head).
template <int R, class T>
[[gnu::noinline]] void tile(int n, T alpha, Left<T> a, const T* panel, T beta, Mat<T> c) {
  constexpr int L = kVectorSize<T>;
  for (int r = 0; r < R; ++r) __builtin_prefetch(c.row(r), 1);
  Vector<T> sums[R][kTileVectors] = {};
  for (int i = 0; i < n; ++i) {
    Vector<T> b[kTileVectors];
#pragma GCC unroll 4
    for (int j = 0; j < kTileVectors; ++j) {
      b[j] = load(panel + j * L);
      pin_register(b[j]);
    }
    panel += kPanel<T>;
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const Vector<T> x = all_lanes(a.data[r * a.row_step]);
#pragma GCC unroll 4
      for (int j = 0; j < kTileVectors; ++j) sums[r][j] = fuse(x, b[j], sums[r][j]);
    }
    a.data += a.col_step;
  }
  const Vector<T> factor = all_lanes(alpha), old_factor = all_lanes(beta);
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int j = 0; j < kTileVectors; ++j) {
      T* p = c.row(r) + j * L;
      const int left = c.cols - j * L;
      if (left >= L) {
        const Vector<T> old = beta == 0 ? Vector<T>{} : old_factor * load(p);
        store<T>(fuse(factor, sums[r][j], old), p);
      } else if (left > 0) {
        const Vector<T> old = beta == 0 ? Vector<T>{} : old_factor * load_tail(p, left);
        store_tail<T>(fuse(factor, sums[r][j], old), p, left);
      }
    }
}

// Transposes a square of lanes: swaps the blocks off the diagonal, of size 1, 2, 4.
template <class T>
void transpose_square(Vector<T> (&rows)[kVectorSize<T>]) {
  constexpr int L = kVectorSize<T>;
  using Index = std::conditional_t<sizeof(T) == 4, int, long>;
  Vector<Index> lane;
  for (int i = 0; i < L; ++i) lane[i] = i;
#pragma GCC unroll 8
  for (int block = 1; block < L; block *= 2)
#pragma GCC unroll 8
    for (int i = 0; i < L; ++i) {
      if (i & block) continue;
      const Vector<T> a = rows[i], b = rows[i + block];
      const Vector<Index> right = (lane & block) != 0;
      rows[i] = __builtin_shuffle(a, b, right ? lane + (L - block) : lane);
      rows[i + block] = __builtin_shuffle(a, b, right ? lane + L : lane + block);
    }
}

// C in tiles of R rows, and a smaller tile for the last rows. R rows of A stay in the first-level
// cache while B's panels stream by.
template <int R, class T>
void tiles(T alpha, Left<T> a, PackedOperand<T> b, T beta, Mat<T> c) {
  int r = 0;
  for (; r + R <= c.rows; r += R) {
    for (int j = 0; j < c.cols; j += kPanel<T>)
      tile<R>(b.rows, alpha, a.from_row(r), b.data + ptrdiff_t(j) * b.panel_rows, beta,
              c.row_range(r, r + R).col_range(j, min(c.cols, j + kPanel<T>)));
  }
  if constexpr (R > 1)
    if (r < c.rows) tiles<R - 1>(alpha, a.from_row(r), b, beta, c.row_range(r, c.rows));
}

// Packs at most kPanel columns of B, given as rows of Bᵀ, into one panel.
template <class T>
void pack_transposed(Mat<const T> b_t, T* panel) {
  constexpr int L = kVectorSize<T>, width = kPanel<T>;
  const int rows = b_t.cols;
  int done = 0;
  if (b_t.rows == width)
    for (; done + L <= rows; done += L)
      for (int c = 0; c < width; c += L) {
        Vector<T> square[L];
#pragma GCC unroll 8
        for (int i = 0; i < L; ++i) square[i] = load(b_t.row(c + i) + done);
        transpose_square<T>(square);
#pragma GCC unroll 8
        for (int i = 0; i < L; ++i) store<T>(square[i], panel + (done + i) * width + c);
      }
  for (int c = 0; c < b_t.rows; ++c)
    for (int r = done; r < rows; ++r) panel[r * width + c] = b_t(c, r);
}

}  // namespace

template <class T>
PackedOperand<T> PackedOperand<T>::row_range(int begin, int end) const {
  assert(0 <= begin && begin <= end && end <= rows);
  return {data + ptrdiff_t(begin) * kPanel<T>, end - begin, cols, panel_rows};
}

template <class T>
PackedOperand<T> PackedOperand<T>::col_range(int end) const {
  assert(0 <= end && end <= (cols + kPanel<T> - 1) / kPanel<T> * kPanel<T>);
  return {data, rows, end, panel_rows};
}

template <class T>
PackedOperand<T> pack(Operand<T> b, Workspace& workspace) {
  constexpr int width = kPanel<T>;
  const int rows = b.rows(), cols = b.cols(), whole = cols / width, rest = cols % width;
  const auto panel_size = ptrdiff_t(rows) * width;
  T* const data = workspace.numbers<T>(size_t(whole + (rest > 0)) * panel_size);
  T* const last = data + whole * panel_size;
  if (rest > 0) std::fill_n(last, panel_size, T{0});
  if (b.op == Op::transpose) {
    for (int c = 0; c < cols; c += width)
      pack_transposed(b.mat.row_range(c, min(cols, c + width)), data + c / width * panel_size);
  } else {
    for (int r = 0; r < rows; ++r) {  // row by row, in the order of memory
      const T* from = b.mat.row(r);
      T* to = data + r * width;
      for (int p = 0; p < whole; ++p, from += width, to += panel_size)
        memcpy(to, from, width * sizeof(T));  // a constant size: no library call
      if (rest > 0) std::copy_n(from, rest, to);
    }
  }
  return {data, rows, cols, rows};
}

template <class T>
void gemm(type_identity_t<T> alpha, Operand<T> a, PackedOperand<T> b, type_identity_t<T> beta,
          Mat<T> c) {
  assert(a.rows() == c.rows && b.cols == c.cols && b.rows == a.cols());
  const bool as_is_a = a.op == Op::none;
  const Left<T> left{a.mat.data, as_is_a ? a.mat.stride : 1, as_is_a ? 1 : a.mat.stride};
  tiles<kTileRows>(alpha, left, b, beta, c);
}

#define HEED_INSTANTIATE(T)                               \
  template struct PackedOperand<T>;                       \
  template PackedOperand<T> pack(Operand<T>, Workspace&); \
  template void gemm(T, Operand<T>, PackedOperand<T>, T, Mat<T>);
HEED_FLOAT_AND_DOUBLE(HEED_INSTANTIATE)
#undef HEED_INSTANTIATE

}  // namespace heed
