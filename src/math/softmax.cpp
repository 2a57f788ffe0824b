#include "math/softmax.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "base/std_names.h"
#include "math/mat.h"
#include "math/vec.h"

namespace heed {

// May miss a NaN; the sum that callers compute is then NaN anyway.
template <class T>
T largest(const T* x, int n) {
  T m = x[0];
#pragma omp simd reduction(max : m)
  for (int c = 0; c < n; ++c) m = x[c] > m ? x[c] : m;
  return m;
}

namespace {

// Pads a row's last lanes: its exp is negligible beside that of the largest.
template <class T>
constexpr T kNothing = numeric_limits<T>::lowest();

// x = exp(x - m); returns the sum.
template <class T>
T exps_in_place(T* x, int n, T m) {
  const auto largests = Lanes<T>::all(m);
  Lanes<T> sum{};
  for_lanes<T>(0, n, [&](auto at) {
    const Lanes<T> e = fast_exp(at.load(x, kNothing<T>) - largests);
    at.store(e, x);
    sum = sum + e;
  });
  return total(sum);
}

template <class T>
struct Sums {
  T largest;
  double exps, logits;  // sum of exp(l - largest); sum of l
};

// Adds up blocks of 512 numbers in T, and the blocks in double. `top` is the largest logit.
template <class T, bool store>
Sums<T> sum_logits(std::conditional_t<store, T*, const T*> l, int n, T top) {
  Sums<T> s{top, 0, 0};
  const auto largests = Lanes<T>::all(top);
  for (int begin = 0; begin < n; begin += 512) {
    const int end = min(n, begin + 512);
    Lanes<T> exps{}, logits{};
    for_lanes<T>(begin, end, [&](auto at) {
      logits = logits + at.load(l);
      const Lanes<T> e = fast_exp(at.load(l, kNothing<T>) - largests);
      if constexpr (store) at.store(e, l);
      exps = exps + e;
    });
    s.exps += total(exps);
    s.logits += total(logits);
  }
  return s;
}

template <class T>
RowLoss row_loss(const Sums<T>& s, T label_logit, int classes, double eps) {
  const double lse = std::log(s.exps) + s.largest;
  const double nll = lse - label_logit;
  return {fuse(1 - eps, nll, eps * (lse - s.logits / classes)), nll};
}

}  // namespace

template <class T>
void softmax(T* row, int visible, int cols) {
  assert(visible >= 1 && visible <= cols);
  const T inverse = T{1} / exps_in_place(row, visible, largest(row, visible));
  for (int c = 0; c < visible; ++c) row[c] *= inverse;
  for (int c = visible; c < cols; ++c) row[c] = 0;
}

template <class T>
RowLoss cross_entropy(const T* logits, int classes, int label, double smoothing) {
  const Sums<T> s = sum_logits<T, false>(logits, classes, largest(logits, classes));
  return row_loss(s, logits[label], classes, smoothing);
}

template <class T>
RowLoss cross_entropy_backward(T* logits, int classes, int label, double smoothing, T scale) {
  const T label_logit = logits[label];
  const Sums<T> s = sum_logits<T, true>(logits, classes, largest<T>(logits, classes));
  const T factor = T(scale / s.exps);
  const T floor = T(scale * smoothing / classes);
  for (int c = 0; c < classes; ++c) logits[c] = fuse(logits[c], factor, -floor);
  logits[label] = fuse(-scale, T(1 - smoothing), logits[label]);
  return row_loss(s, label_logit, classes, smoothing);
}

#define HEED_INSTANTIATE(T)                                   \
  template T largest(const T*, int);                          \
  template void softmax(T*, int, int);                        \
  template RowLoss cross_entropy(const T*, int, int, double); \
  template RowLoss cross_entropy_backward(T*, int, int, double, T);
HEED_FLOAT_AND_DOUBLE(HEED_INSTANTIATE)
#undef HEED_INSTANTIATE

}  // namespace heed
