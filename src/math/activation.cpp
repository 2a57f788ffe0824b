#include "math/activation.h"

#include "math/vec.h"

namespace heed {
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
void activate_as(In<T> u, Mat<T> h, const Dropout& dropout) {
  for_rows<T>(u.rows, dropout, [&](int r, auto mask) {
    const T* __restrict p = u.row(r);
    T* __restrict q = h.row(r);
    for (int c = 0; c < u.cols; ++c) q[c] = mask(c) * F::at(p[c]).value;
  });
}

template <class F, class T>
void activate_with_slope_as(Mat<T> u, Mat<T> h, const Dropout& dropout) {
  for_rows<T>(u.rows, dropout, [&](int r, auto mask) {
    T* __restrict p = u.row(r);
    T* __restrict q = h.row(r);
    for (int c = 0; c < u.cols; ++c) {
      const auto f = F::at(p[c]);
      const T k = mask(c);
      q[c] = k * f.value;
      p[c] = k * f.slope;
    }
  });
}

}  // namespace

template <class T>
void activate(Activation f, In<T> u, Mat<T> h, const Dropout& dropout) {
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
void activate_backward(In<T> slope, Mat<T> d) {
  for (int r = 0; r < d.rows; ++r) {
    const T* __restrict p = slope.row(r);
    T* __restrict q = d.row(r);
    for (int c = 0; c < d.cols; ++c) q[c] *= p[c];
  }
}

#define HEED_INSTANTIATE(T)                                                      \
  template void activate(Activation, Mat<const T>, Mat<T>, const Dropout&);      \
  template void activate_with_slope(Activation, Mat<T>, Mat<T>, const Dropout&); \
  template void activate_backward(Mat<const T>, Mat<T>);
HEED_INSTANTIATE(float)
HEED_INSTANTIATE(double)
#undef HEED_INSTANTIATE

}  // namespace heed
