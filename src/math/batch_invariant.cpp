#include "math/batch_invariant.h"

#include <algorithm>

#include "base/std_names.h"
#include "math/lanes.h"
#include "math/softmax.h"
#include "math/vec.h"

namespace heed {
namespace {

// y[r][j] = x[r] . w[j] + b[j] for R rows of x and J rows of w, with R * J accumulators in
// registers. kFirst prefetches the next J rows of w, which the hardware would fetch too late. The
// loops over R and J are unrolled, or the accumulators would end up in memory.
template <int R, int J, bool kFirst, class T>
void dots(Mat<const T> x, Mat<const T> w, const T* b, Mat<T> y) {
  using V = HalfLanes<T>;
  constexpr int kSize = sizeof(V) / sizeof(T);
  const int n = x.cols;
  V acc[R][J] = {};
  const auto step = [&](int c, auto&& read) __attribute__((always_inline)) {
    V wv[J];
#pragma GCC unroll 8
    for (int j = 0; j < J; ++j) {
      wv[j] = read(w.row(j) + c);
      if constexpr (R > 1) pin_register(wv[j]);
      if constexpr (kFirst) __builtin_prefetch(w.row(j + J) + c);
    }
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      V xv = read(x.row(r) + c);
      if constexpr (R > 1) pin_register(xv);
#pragma GCC unroll 8
      for (int j = 0; j < J; ++j) acc[r][j] = fuse(xv, wv[j], acc[r][j]);
    }
  };
  int c = 0;
  for (; c + kSize <= n; c += kSize) step(c, [](const T* p) { return load<T, V>(p); });
  if (c < n) step(c, [n = n - c](const T* p) { return load_tail<T, V>(p, n); });
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int j = 0; j < J; ++j) y(r, j) = total<T>(acc[r][j]) + (b ? b[j] : T{0});
}

// Columns [j, j + J) of y.
template <int J, class T>
void dots_all_rows(Mat<const T> x, Mat<const T> w, const T* bias, Mat<T> y, int j) {
  const T* b = bias ? bias + j : nullptr;
  const auto rows = [&]<int R, bool kFirst>(int r) {
    dots<R, J, kFirst>(x.row_range(r, r + R), w.row_range(j, j + J), b,
                       y.row_range(r, r + R).col_range(j, j + J));
  };
  int r = 0;
  if constexpr (J <= 3) {
    if (x.rows >= 4) {
      rows.template operator()<4, true>(0);
      r = 4;
    }
    for (; r + 4 <= x.rows; r += 4) rows.template operator()<4, false>(r);
  }
  if (r == 0 && x.rows > 0) {
    rows.template operator()<1, true>(0);
    r = 1;
  }
  for (; r < x.rows; ++r) rows.template operator()<1, false>(r);
}

template <class T>
void linear_columns(Mat<const T> x, Mat<const T> w, const T* b, Mat<T> y, int begin, int end) {
  int j = begin;
  if (x.rows < 4)
    for (; j + 8 <= end; j += 8) dots_all_rows<8>(x, w, b, y, j);
  for (; j + 3 <= end; j += 3) dots_all_rows<3>(x, w, b, y, j);
  for (; j < end; ++j) dots_all_rows<1>(x, w, b, y, j);
}

// One query q [heads, d_head] against all these keys: weights [heads, m], out [heads x d_head].
// Reads keys and values row by row for all heads at once: a row of the cache is contiguous,
// one head's part is not.
template <class T>
void attend_one(In<T> q, In<T> k, In<T> v, T scale, bool uniform, Mat<T> weights, T* out) {
  const int m = k.rows, heads = q.rows, d = q.cols, sharing = heads * d / k.cols;
  // body(head, first column of its keys and values)
  const auto for_heads = [&](auto&& body) {
    for (int h = 0, kv = 0; h < heads; kv += d)
      for (const int end = h + sharing; h < end; ++h) body(h, kv);
  };
  constexpr int kKeys = 8, kValues = 4;
  if (uniform) {
    for (int h = 0; h < heads; ++h) std::fill_n(weights.row(h), m, T{1} / m);
  } else {
    int j = 0;
    const auto scores = [&]<int J>(int h, int kv) {
      dots<1, J, true, T>({q.row(h), 1, d}, {k.row(j) + kv, J, d, k.stride}, nullptr,
                          {weights.row(h) + j, 1, J});
    };
    for (; j + kKeys <= m; j += kKeys)
      for_heads([&](int h, int kv) { scores.template operator()<kKeys>(h, kv); });
    for (; j < m; ++j) for_heads([&](int h, int kv) { scores.template operator()<1>(h, kv); });
    for (int h = 0; h < heads; ++h) {
      T* w = weights.row(h);
      for (int i = 0; i < m; ++i) w[i] *= scale;
      softmax(w, m, m);
    }
  }
  std::fill_n(out, heads * d, T{0});
  int j = 0;
  for (; j + kValues <= m; j += kValues) {
    for_heads([&](int h, int kv) {
      const T* __restrict w = weights.row(h) + j;
      const T* __restrict v0 = v.row(j) + kv;
      const T* __restrict v1 = v0 + v.stride;
      const T* __restrict v2 = v1 + v.stride;
      const T* __restrict v3 = v2 + v.stride;
      T* __restrict o = out + h * d;
      for (int c = 0; c < d; ++c)
        o[c] = fuse(w[3], v3[c], fuse(w[2], v2[c], fuse(w[1], v1[c], fuse(w[0], v0[c], o[c]))));
    });
  }
  for (; j < m; ++j) {
    for_heads([&](int h, int kv) {
      const T* __restrict p = v.row(j) + kv;
      const T w = weights.row(h)[j];
      T* __restrict o = out + h * d;
      for (int c = 0; c < d; ++c) o[c] = fuse(w, p[c], o[c]);
    });
  }
}

}  // namespace

template <class T>
void batch_invariant_linear(In<T> x, In<T> w, In<T> b, Mat<T> y, Pool* pool) {
  assert(x.cols == w.cols && y.cols == w.rows && y.rows == x.rows);
  const T* bias = b.data;
  const double work = double(x.rows) * w.rows * w.cols;
  if (pool == nullptr || pool->threads() == 1 || work < 16384) {
    linear_columns(x, w, bias, y, 0, w.rows);
    return;
  }
  const int parts = pool->threads();
  const int step = (w.rows + parts - 1) / parts;
  pool->run(parts, [&](int part, int) {
    linear_columns(x, w, bias, y, min(w.rows, part * step), min(w.rows, (part + 1) * step));
  });
}

template <class T>
void batch_invariant_attention(const CachedHeads<T>& h) {
  const int n = h.q.rows, d = h.q.cols / h.heads;
  for (int i = 0; i < n; ++i) {
    const int seen = visible_keys(h.causal, i, n, h.k.rows);
    attend_one({h.q.row(i), h.heads, d}, h.k.row_range(0, seen), h.v.row_range(0, seen), h.scale,
               h.uniform, Mat<T>{h.weights, h.heads, seen}, h.o.row(i));
  }
}

#define HEED_INSTANTIATE(T)                                                 \
  template void batch_invariant_linear(In<T>, In<T>, In<T>, Mat<T>, Pool*); \
  template void batch_invariant_attention(const CachedHeads<T>&);
HEED_FLOAT_AND_DOUBLE(HEED_INSTANTIATE)
#undef HEED_INSTANTIATE

}  // namespace heed
