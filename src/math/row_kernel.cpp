#include "math/row_kernel.h"

#ifdef __FMA__
#include <immintrin.h>
#endif

#include <algorithm>
#include <cstring>

#include "math/softmax.h"
#include "math/vec.h"

namespace heed {
namespace {

constexpr int kVectorBytes = 32;

template <class T>
struct VectorOf {
  typedef T type __attribute__((vector_size(kVectorBytes)));
};
template <class T>
using Vector = typename VectorOf<T>::type;

template <class T>
constexpr int kLanes = kVectorBytes / sizeof(T);

template <class T>
Vector<T> load(const T* p) {
  Vector<T> v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

template <class T>
Vector<T> load_tail(const T* p, int n) {
  Vector<T> v{};
  std::memcpy(&v, p, sizeof(T) * n);
  return v;
}

// a * b + c in every lane, as fuse() of vec.h.
template <class T>
Vector<T> fuse_lanes(Vector<T> a, Vector<T> b, Vector<T> c) {
#ifdef __FMA__
  if constexpr (sizeof(T) == 4) {
    return _mm256_fmadd_ps(a, b, c);
  } else {
    return _mm256_fmadd_pd(a, b, c);
  }
#else
  return a * b + c;
#endif
}

template <class T>
T sum(Vector<T> v) {
  for (int half = kLanes<T> / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) v[i] += v[i + half];
  return v[0];
}

// y[r][j] for R rows of x and J rows of w: R * J accumulators in registers.
template <int R, int J, class T>
void dots(const T* x, int x_stride, const T* w, int w_stride, int n, const T* b, T* y,
          int y_stride) {
  Vector<T> acc[R][J] = {};
  int c = 0;
  for (; c + kLanes<T> <= n; c += kLanes<T>) {
    Vector<T> wv[J];
    for (int j = 0; j < J; ++j) wv[j] = load(w + static_cast<std::ptrdiff_t>(j) * w_stride + c);
    for (int r = 0; r < R; ++r) {
      const Vector<T> xv = load(x + static_cast<std::ptrdiff_t>(r) * x_stride + c);
      for (int j = 0; j < J; ++j) acc[r][j] = fuse_lanes<T>(xv, wv[j], acc[r][j]);
    }
  }
  if (c < n) {
    for (int j = 0; j < J; ++j) {
      const Vector<T> wv = load_tail(w + static_cast<std::ptrdiff_t>(j) * w_stride + c, n - c);
      for (int r = 0; r < R; ++r)
        acc[r][j] = fuse_lanes<T>(
            load_tail(x + static_cast<std::ptrdiff_t>(r) * x_stride + c, n - c), wv, acc[r][j]);
    }
  }
  for (int r = 0; r < R; ++r)
    for (int j = 0; j < J; ++j)
      y[static_cast<std::ptrdiff_t>(r) * y_stride + j] = sum<T>(acc[r][j]) + (b ? b[j] : T{0});
}

template <int J, class T>
void dots_all_rows(Mat<const T> x, const T* w, int w_stride, const T* b, Mat<T> y, int j) {
  int r = 0;
  if constexpr (J <= 3)
    for (; r + 4 <= x.rows; r += 4)
      dots<4, J>(x.row(r), x.stride, w, w_stride, x.cols, b, y.row(r) + j, y.stride);
  for (; r < x.rows; ++r)
    dots<1, J>(x.row(r), x.stride, w, w_stride, x.cols, b, y.row(r) + j, y.stride);
}

template <class T>
void linear_columns(Mat<const T> x, Mat<const T> w, const T* b, Mat<T> y, int begin, int end) {
  int j = begin;
  const auto bias = [&](int at) { return b ? b + at : nullptr; };
  if (x.rows < 4)
    for (; j + 8 <= end; j += 8) dots_all_rows<8>(x, w.row(j), w.stride, bias(j), y, j);
  for (; j + 3 <= end; j += 3) dots_all_rows<3>(x, w.row(j), w.stride, bias(j), y, j);
  for (; j < end; ++j) dots_all_rows<1>(x, w.row(j), w.stride, bias(j), y, j);
}

}  // namespace

template <class T>
void exact_linear(Mat<const T> x, Mat<const T> w, Mat<const T> b, Mat<T> y, Pool* pool) {
  assert(x.cols == w.cols && y.cols == w.rows && y.rows == x.rows);
  const T* bias = b.data;
  const double work = static_cast<double>(x.rows) * w.rows * w.cols;
  if (pool == nullptr || pool->threads() == 1 || work < 16384) {
    linear_columns(x, w, bias, y, 0, w.rows);
    return;
  }
  const int parts = pool->threads();
  const int step = (w.rows + parts - 1) / parts;
  pool->run(parts, [&](int part, int) {
    linear_columns(x, w, bias, y, std::min(w.rows, part * step),
                   std::min(w.rows, (part + 1) * step));
  });
}

template <class T>
void exact_attention(const T* q, Mat<const T> k, Mat<const T> v, T scale, bool uniform, T* weights,
                     T* out) {
  const int m = k.rows, n = k.cols;
  if (uniform) {
    std::fill(weights, weights + m, T{1} / m);
  } else {
    linear_columns<T>({q, 1, n}, k, nullptr, Mat<T>{weights, 1, m}, 0, m);
    for (int j = 0; j < m; ++j) weights[j] *= scale;
    softmax(weights, m, m);
  }
  std::fill(out, out + n, T{0});
  for (int j = 0; j < m; ++j) {
    const T* __restrict p = v.row(j);
    T* __restrict o = out;
    const T weight = weights[j];
    for (int c = 0; c < n; ++c) o[c] = fuse(weight, p[c], o[c]);
  }
}

#define HEED_INSTANTIATE(T)                                                            \
  template void exact_linear(Mat<const T>, Mat<const T>, Mat<const T>, Mat<T>, Pool*); \
  template void exact_attention(const T*, Mat<const T>, Mat<const T>, T, bool, T*, T*);
HEED_INSTANTIATE(float)
HEED_INSTANTIATE(double)
#undef HEED_INSTANTIATE

}  // namespace heed
