#include "math/normalize.h"

#include <cmath>

namespace heed {

template <class T>
void normalize(NormKind kind, In<T> x, In<T> gain, In<T> bias, Mat<T> y, Mat<T> stats) {
  const int n = x.cols;
  const T eps = static_cast<T>(kind.eps);
  const T* __restrict g = gain.data;
  const T* __restrict b = bias.data;
  for (int r = 0; r < x.rows; ++r) {
    const T* p = x.row(r);
    T mean = 0, squares = 0;
    if (kind.type == NormType::layer) {
      T sum = 0;
#pragma omp simd reduction(+ : sum)
      for (int c = 0; c < n; ++c) sum += p[c];
      mean = sum / n;
    }
#pragma omp simd reduction(+ : squares)
    for (int c = 0; c < n; ++c) squares += (p[c] - mean) * (p[c] - mean);
    const T inverse = T{1} / std::sqrt(squares / n + eps);
    T* q = y.row(r);
#pragma omp simd
    for (int c = 0; c < n; ++c) q[c] = (p[c] - mean) * inverse * g[c] + b[c];
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
    T e_sum = 0, eh_sum = 0;
#pragma omp simd reduction(+ : e_sum, eh_sum)
    for (int c = 0; c < n; ++c) {
      const T h = (p[c] - mean) * inverse, e = d[c] * g[c];
      dg[c] += d[c] * h;
      db[c] += d[c];
      e_sum += e;
      eh_sum += e * h;
    }
    const T e_mean = type == NormType::rms ? T{0} : e_sum / n, eh_mean = eh_sum / n;
    for (int c = 0; c < n; ++c) {
      const T h = (p[c] - mean) * inverse;
      q[c] += inverse * (d[c] * g[c] - e_mean - h * eh_mean);
    }
  }
}

#define HEED_INSTANTIATE(T)                                                                    \
  template void normalize(NormKind, Mat<const T>, Mat<const T>, Mat<const T>, Mat<T>, Mat<T>); \
  template void normalize_backward(NormType, Mat<const T>, Mat<const T>, Mat<const T>,         \
                                   Mat<const T>, const NormGradients<T>&);
HEED_INSTANTIATE(float)
HEED_INSTANTIATE(double)
#undef HEED_INSTANTIATE

}  // namespace heed
