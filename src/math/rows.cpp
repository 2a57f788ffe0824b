#include "math/rows.h"

#include <algorithm>
#include <cstring>

#include "base/noise.h"
#include "math/vec.h"

namespace heed {
namespace {

// Calls body(r, keep) for every row; keep(c) is the factor of column c: 0 or 1 / (1 - rate).
template <class T>
struct Keep {
  std::uint64_t key;
  std::uint32_t threshold;
  T scale;
  T operator()(int c) const {
    return noise32(key, static_cast<std::uint32_t>(c)) >= threshold ? scale : T{0};
  }
};

template <class T>
struct KeepAll {
  T operator()(int) const { return T{1}; }
};

template <class T, class Body>
void for_rows(int rows, const Dropout& d, Body&& body) {
  if (!d.on()) {
    for (int r = 0; r < rows; ++r) body(r, KeepAll<T>{});
    return;
  }
  const auto threshold = static_cast<std::uint32_t>(std::min(d.rate * 0x1.0p32, 0x1.0p32 - 1));
  const T scale = static_cast<T>(1.0 / (1.0 - d.rate));
  for (int r = 0; r < rows; ++r) body(r, Keep<T>{combine(d.row_keys[r], d.site), threshold, scale});
}

}  // namespace

template <class T>
void set_zero(Mat<T> x) {
  for (int r = 0; r < x.rows; ++r) std::memset(x.row(r), 0, sizeof(T) * x.cols);
}

template <class T>
void copy_rows(Mat<const T> from, Mat<T> to) {
  assert(from.rows == to.rows && from.cols == to.cols);
  for (int r = 0; r < from.rows; ++r) std::memcpy(to.row(r), from.row(r), sizeof(T) * from.cols);
}

template <class T>
void fill_rows(Mat<const T> b, Mat<T> y) {
  for (int r = 0; r < y.rows; ++r) std::memcpy(y.row(r), b.data, sizeof(T) * y.cols);
}

template <class T>
void add_column_sums(Mat<const T> x, Mat<T> sums) {
  T* __restrict s = sums.data;
  int r = 0;
  for (; r + 4 <= x.rows; r += 4) {
    const T *a = x.row(r), *b = x.row(r + 1), *c = x.row(r + 2), *d = x.row(r + 3);
    for (int j = 0; j < x.cols; ++j) s[j] += (a[j] + b[j]) + (c[j] + d[j]);
  }
  for (; r < x.rows; ++r) {
    const T* a = x.row(r);
    for (int j = 0; j < x.cols; ++j) s[j] += a[j];
  }
}

template <class T>
void drop_in_place(Mat<T> x, const Dropout& dropout) {
  if (!dropout.on()) return;
  for_rows<T>(x.rows, dropout, [&](int r, auto keep) {
    T* __restrict p = x.row(r);
    for (int c = 0; c < x.cols; ++c) p[c] *= keep(c);
  });
}

template <class T>
void drop_add(Mat<T> y, Mat<const T> x, const Dropout& dropout) {
  for_rows<T>(y.rows, dropout, [&](int r, auto keep) {
    T* __restrict p = y.row(r);
    const T* __restrict q = x.row(r);
    for (int c = 0; c < y.cols; ++c) p[c] = q[c] + keep(c) * p[c];
  });
}

template <class T>
void drop_add_backward(Mat<const T> dy, Mat<T> dbranch, Mat<T> bias_sums, const Dropout& dropout) {
  for_rows<T>(dy.rows, dropout, [&](int r, auto keep) {
    const T* __restrict d = dy.row(r);
    T* __restrict p = dbranch.row(r);
    T* __restrict s = bias_sums.data;
    for (int c = 0; c < dy.cols; ++c) {
      p[c] = keep(c) * d[c];
      s[c] += p[c];
    }
  });
}

namespace {

template <class T>
struct ValueAndSlope {
  T value, slope;
};

struct Relu {
  template <class T>
  static ValueAndSlope<T> at(T u) {
    return {u > T{0} ? u : (u <= T{0} ? T{0} : u),  // NaN stays NaN
            u > T{0} ? T{1} : T{0}};
  }
};

// gelu(u) = u Phi(u);  gelu'(u) = Phi(u) + u phi(u)
struct Gelu {
  template <class T>
  static ValueAndSlope<T> at(T u) {
    const Normal<T> n = standard_normal(u);
    return {u * n.cdf, n.cdf + u * n.pdf};
  }
};

// silu(u) = u s(u), s the logistic function;  silu'(u) = s + u s (1 - s)
struct Silu {
  template <class T>
  static ValueAndSlope<T> at(T u) {
    const T s = T{1} / (T{1} + fast_exp(-u));
    return {u * s, s + u * s * (T{1} - s)};
  }
};

template <class F, class T>
void activate_as(Mat<const T> u, Mat<T> h, const Dropout& dropout) {
  for_rows<T>(u.rows, dropout, [&](int r, auto keep) {
    const T* __restrict p = u.row(r);
    T* __restrict q = h.row(r);
    for (int c = 0; c < u.cols; ++c) q[c] = keep(c) * F::at(p[c]).value;
  });
}

template <class F, class T>
void activate_with_slope_as(Mat<T> u, Mat<T> h, const Dropout& dropout) {
  for_rows<T>(u.rows, dropout, [&](int r, auto keep) {
    T* __restrict p = u.row(r);
    T* __restrict q = h.row(r);
    for (int c = 0; c < u.cols; ++c) {
      const auto f = F::at(p[c]);
      const T k = keep(c);
      q[c] = k * f.value;
      p[c] = k * f.slope;
    }
  });
}

}  // namespace

template <class T>
void activate(Activation f, Mat<const T> u, Mat<T> h, const Dropout& dropout) {
  if (f == Activation::relu) return activate_as<Relu>(u, h, dropout);
  if (f == Activation::gelu) return activate_as<Gelu>(u, h, dropout);
  activate_as<Silu>(u, h, dropout);
}

template <class T>
void activate_with_slope(Activation f, Mat<T> u, Mat<T> h, const Dropout& dropout) {
  if (f == Activation::relu) return activate_with_slope_as<Relu>(u, h, dropout);
  if (f == Activation::gelu) return activate_with_slope_as<Gelu>(u, h, dropout);
  activate_with_slope_as<Silu>(u, h, dropout);
}

template <class T>
void activate_backward(Mat<const T> slope, Mat<T> d, Mat<T> bias_sums) {
  T* __restrict s = bias_sums.data;
  for (int r = 0; r < d.rows; ++r) {
    const T* __restrict p = slope.row(r);
    T* __restrict q = d.row(r);
    for (int c = 0; c < d.cols; ++c) {
      q[c] *= p[c];
      s[c] += q[c];
    }
  }
}

template <class T>
void layer_norm(Mat<const T> x, Mat<const T> gain, Mat<const T> bias, Mat<T> y, Mat<T> stats) {
  const int n = x.cols;
  const T* __restrict g = gain.data;
  const T* __restrict b = bias.data;
  for (int r = 0; r < x.rows; ++r) {
    const T* p = x.row(r);
    T sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum)
    for (int c = 0; c < n; ++c) sum += p[c];
    const T mean = sum / n;
#pragma omp simd reduction(+ : squares)
    for (int c = 0; c < n; ++c) squares += (p[c] - mean) * (p[c] - mean);
    const T inverse = T{1} / std::sqrt(squares / n + T{1e-5});
    T* q = y.row(r);
#pragma omp simd
    for (int c = 0; c < n; ++c) q[c] = (p[c] - mean) * inverse * g[c] + b[c];
    stats(r, 0) = mean;
    stats(r, 1) = inverse;
  }
}

// With h = (x - mean) / sigma and e = dy gain:  dx = (e - mean(e) - h mean(e h)) / sigma
template <class T>
void layer_norm_backward(Mat<const T> x, Mat<const T> gain, Mat<const T> stats, Mat<const T> dy,
                         Mat<T> dx, Mat<T> dgain, Mat<T> dbias) {
  const int n = x.cols;
  const T* __restrict g = gain.data;
  T* __restrict dg = dgain.data;
  T* __restrict db = dbias.data;
  for (int r = 0; r < x.rows; ++r) {
    const T* __restrict p = x.row(r);
    const T* __restrict d = dy.row(r);
    T* __restrict q = dx.row(r);
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
    const T e_mean = e_sum / n, eh_mean = eh_sum / n;
    for (int c = 0; c < n; ++c) {
      const T h = (p[c] - mean) * inverse;
      q[c] += inverse * (d[c] * g[c] - e_mean - h * eh_mean);
    }
  }
}

// A NaN may be passed over: callers divide by sums that it poisons anyway.
template <class T>
T largest(const T* x, int n) {
  T m = x[0];
#pragma omp simd reduction(max : m)
  for (int c = 0; c < n; ++c) m = x[c] > m ? x[c] : m;
  return m;
}

template <class T>
void softmax(T* row, int visible, int cols) {
  assert(visible >= 1 && visible <= cols);
  const T m = largest(row, visible);
  T sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int c = 0; c < visible; ++c) {
    row[c] = fast_exp(row[c] - m);
    sum += row[c];
  }
  const T inverse = T{1} / sum;
  for (int c = 0; c < visible; ++c) row[c] *= inverse;
  for (int c = visible; c < cols; ++c) row[c] = 0;
}

namespace {

template <class T>
struct Sums {
  T largest;
  double exps, logits;  // sum of exp(l - largest); sum of l
};

// Sums of up to a few thousand floats go in T by blocks, blocks in double.
// `top` is the largest logit.
template <class T, bool store>
Sums<T> sum_logits(std::conditional_t<store, T*, const T*> l, int n, T top) {
  Sums<T> s{top, 0, 0};
  for (int begin = 0; begin < n; begin += 512) {
    const int end = std::min(n, begin + 512);
    T exps = 0, logits = 0;
#pragma omp simd reduction(+ : exps, logits)
    for (int c = begin; c < end; ++c) {
      const T x = l[c];
      const T e = fast_exp(x - s.largest);
      if constexpr (store) l[c] = e;
      logits += x;
      exps += e;
    }
    s.exps += exps;
    s.logits += logits;
  }
  return s;
}

template <class T>
RowLoss row_loss(const Sums<T>& s, T label_logit, bool correct, int classes, double eps) {
  const double lse = std::log(s.exps) + s.largest;
  const double plain = lse - label_logit;
  return {(1 - eps) * plain + eps * (lse - s.logits / classes), plain, correct};
}

template <class T>
bool is_first_largest(const T* l, int label, T largest_logit) {
  return l[label] == largest_logit && std::find(l, l + label, largest_logit) == l + label;
}

}  // namespace

template <class T>
RowLoss cross_entropy(const T* logits, int classes, int label, double smoothing) {
  const Sums<T> s = sum_logits<T, false>(logits, classes, largest(logits, classes));
  return row_loss(s, logits[label], is_first_largest(logits, label, s.largest), classes, smoothing);
}

template <class T>
RowLoss cross_entropy_backward(T* logits, int classes, int label, double smoothing, T scale) {
  const T label_logit = logits[label];
  const T top = largest<T>(logits, classes);
  // Before the sweep: afterwards the exps of near ties may be equal.
  const bool correct = is_first_largest<T>(logits, label, top);
  const Sums<T> s = sum_logits<T, true>(logits, classes, top);
  const T factor = static_cast<T>(scale / s.exps);
  const T floor = static_cast<T>(scale * smoothing / classes);
  for (int c = 0; c < classes; ++c) logits[c] = logits[c] * factor - floor;
  logits[label] -= static_cast<T>(scale * (1 - smoothing));
  return row_loss(s, label_logit, correct, classes, smoothing);
}

template <class T>
void rotate(Mat<T> x, int n_heads, const Angles<T>& angles, const int* position, T direction) {
  const int d_head = angles.table.cols;
  for (int r = 0; r < x.rows; ++r) {
    const T* __restrict t = angles.of(position[r]);
    for (int h = 0; h < n_heads; ++h) {
      T* __restrict p = x.row(r) + h * d_head;
      for (int c = 0; c < d_head; c += 2) {
        const T a = p[c], b = p[c + 1], cosine = t[c], sine = direction * t[c + 1];
        p[c] = fuse(a, cosine, -(b * sine));
        p[c + 1] = fuse(a, sine, b * cosine);
      }
    }
  }
}

#define HEED_INSTANTIATE(T)                                                                 \
  template void set_zero(Mat<T>);                                                           \
  template void copy_rows(Mat<const T>, Mat<T>);                                            \
  template void fill_rows(Mat<const T>, Mat<T>);                                            \
  template void add_column_sums(Mat<const T>, Mat<T>);                                      \
  template void drop_in_place(Mat<T>, const Dropout&);                                      \
  template void drop_add(Mat<T>, Mat<const T>, const Dropout&);                             \
  template void drop_add_backward(Mat<const T>, Mat<T>, Mat<T>, const Dropout&);            \
  template void activate(Activation, Mat<const T>, Mat<T>, const Dropout&);                 \
  template void activate_with_slope(Activation, Mat<T>, Mat<T>, const Dropout&);            \
  template void activate_backward(Mat<const T>, Mat<T>, Mat<T>);                            \
  template void layer_norm(Mat<const T>, Mat<const T>, Mat<const T>, Mat<T>, Mat<T>);       \
  template void layer_norm_backward(Mat<const T>, Mat<const T>, Mat<const T>, Mat<const T>, \
                                    Mat<T>, Mat<T>, Mat<T>);                                \
  template T largest(const T*, int);                                                        \
  template void softmax(T*, int, int);                                                      \
  template RowLoss cross_entropy(const T*, int, int, double);                               \
  template RowLoss cross_entropy_backward(T*, int, int, double, T);                         \
  template void rotate(Mat<T>, int, const Angles<T>&, const int*, T);
HEED_INSTANTIATE(float)
HEED_INSTANTIATE(double)
#undef HEED_INSTANTIATE

}  // namespace heed
