#include "math/normalize.h"
#include "base/std_names.h"

#include <cmath>

#include "math/lanes.h"

namespace heed {

template <class T>
void normalize(NormKind kind, In<T> x, In<T> gain, In<T> bias, Mat<T> y, Mat<T> stats) {
  const int n = x.cols;
  const T eps = T(kind.eps);
  const T* __restrict g = gain.data;
  const T* __restrict b = bias.data;
  for (int r = 0; r < x.rows; ++r) {
    const T* p = x.row(r);
    const T mean = kind.type == NormType::layer ? sum_row(p, n) / n : T{0};
    const auto means = Lanes<T>::all(mean);
    Lanes<T> squares{};
    for_lanes<T>(0, n, [&](auto at) {
      const Lanes<T> d = at.load(p, mean) - means;
      squares = fuse(d, d, squares);
    });
    const T inverse = T{1} / sqrt(total(squares) / n + eps);
    T* q = y.row(r);
#pragma omp simd
    for (int c = 0; c < n; ++c) q[c] = fuse((p[c] - mean) * inverse, g[c], b[c]);
    stats(r, 0) = mean;
    stats(r, 1) = inverse;
  }
}

// With h = (x - mean) / sigma and e = dy gain:  dx = (e - mean(e) - h mean(e h)) / sigma.
// RMSNorm: without mean(e).
template <class T>
void normalize_backward(NormType type, In<T> x, In<T> gain, In<T> stats, In<T> dy,
                        const NormGradients<T>& to) {
  const int n = x.cols;
  const T* __restrict g = gain.data;
  T* __restrict dg = to.dgain.data;
  T* __restrict db = to.dbias.data;
  for (int r = 0; r < x.rows; ++r) {
    const T* __restrict p = x.row(r);
    const T* __restrict d = dy.row(r);
    T* __restrict q = to.dx.row(r);
    const T mean = stats(r, 0), inverse = stats(r, 1);
    const auto means = Lanes<T>::all(mean), inverses = Lanes<T>::all(inverse);
    Lanes<T> e_sums{}, eh_sums{};
    for_lanes<T>(0, n, [&](auto at) {
      const Lanes<T> h = (at.load(p, mean) - means) * inverses, dh = at.load(d);
      const Lanes<T> e = dh * at.load(g);
      at.store(fuse(dh, h, at.load(dg)), dg);
      at.store(at.load(db) + dh, db);
      e_sums = e_sums + e;
      eh_sums = fuse(e, h, eh_sums);
    });
    const T e_mean = type == NormType::rms ? T{0} : total(e_sums) / n;
    const T eh_mean = total(eh_sums) / n;
    for (int c = 0; c < n; ++c) {
      const T h = (p[c] - mean) * inverse;
      q[c] = fuse(inverse, fuse(-h, eh_mean, fuse(d[c], g[c], -e_mean)), q[c]);
    }
  }
}

#define HEED_INSTANTIATE(T)                                                                    \
  template void normalize(NormKind, Mat<const T>, Mat<const T>, Mat<const T>, Mat<T>, Mat<T>); \
  template void normalize_backward(NormType, Mat<const T>, Mat<const T>, Mat<const T>,         \
                                   Mat<const T>, const NormGradients<T>&);
HEED_FLOAT_AND_DOUBLE(HEED_INSTANTIATE)
#undef HEED_INSTANTIATE

}  // namespace heed
