#include "math/activation.h"

#include "math/vec.h"

namespace heed {
namespace {

template <class T>
struct ValueAndSlope {
  T value, slope;
};

// f(u) and f'(u), as functions whose types tell them apart, so that loops have no branch.
constexpr auto kRelu = []<class T>(T u) -> ValueAndSlope<T> {
  return {u > T{0} ? u : (u <= T{0} ? T{0} : u),  // NaN stays NaN
          u > T{0} ? T{1} : T{0}};
};

// relu2(u) = max(0, u)^2;  relu2'(u) = 2 max(0, u)
constexpr auto kSquaredRelu = []<class T>(T u) -> ValueAndSlope<T> {
  const T positive = kRelu(u).value;
  return {positive * positive, T{2} * positive};
};

// gelu(u) = u Phi(u);  gelu'(u) = Phi(u) + u phi(u)
constexpr auto kGelu = []<class T>(T u) -> ValueAndSlope<T> {
  const Normal<T> n = standard_normal(u);
  return {u * n.cdf, fuse(u, n.pdf, n.cdf)};
};

// silu(u) = u s(u), s the logistic function;  silu'(u) = s + u s (1 - s)
constexpr auto kSilu = []<class T>(T u) -> ValueAndSlope<T> {
  const T s = T{1} / (T{1} + fast_exp(-u));
  return {u * s, fuse(u * s, T{1} - s, s)};
};

// gelu_tanh(u) = u (1 + tanh z) / 2 = u s(2z),  z = sqrt(2/pi) (u + 0.044715 u^3)
constexpr auto kGeluTanh = []<class T>(T u) -> ValueAndSlope<T> {
  constexpr T kTwice = T(1.5957691216057308), kCubic = T(0.044715);
  const T s = T{1} / (T{1} + fast_exp(-kTwice * u * fuse(kCubic * u, u, T{1})));
  const T slope = kTwice * fuse(T{3} * kCubic * u, u, T{1});  // of 2z
  return {u * s, s * fuse(u * (T{1} - s), slope, T{1})};
};

template <class Body>
void with_function(Activation f, Body&& body) {
  switch (f) {
    case Activation::relu:
      return body(kRelu);
    case Activation::gelu:
      return body(kGelu);
    case Activation::silu:
      return body(kSilu);
    case Activation::relu2:
      return body(kSquaredRelu);
    case Activation::gelu_tanh:
      return body(kGeluTanh);
  }
}

}  // namespace

template <class T>
void activate(Activation function, In<T> u, Mat<T> h, const Dropout& dropout) {
  with_function(function, [&](auto f) {
    for_rows<T>(u.rows, dropout, [&](int r, auto mask) {
      const T* __restrict p = u.row(r);
      T* __restrict q = h.row(r);
      for (int c = 0; c < u.cols; ++c) q[c] = mask(c) * f(p[c]).value;
    });
  });
}

template <class T>
void activate_with_slope(Activation function, Mat<T> u, Mat<T> h, const Dropout& dropout) {
  with_function(function, [&](auto f) {
    for_rows<T>(u.rows, dropout, [&](int r, auto mask) {
      T* __restrict p = u.row(r);
      T* __restrict q = h.row(r);
      for (int c = 0; c < u.cols; ++c) {
        const auto at = f(p[c]);
        const T k = mask(c);
        q[c] = k * at.value;
        p[c] = k * at.slope;
      }
    });
  });
}

#define HEED_INSTANTIATE(T)                                                 \
  template void activate(Activation, Mat<const T>, Mat<T>, const Dropout&); \
  template void activate_with_slope(Activation, Mat<T>, Mat<T>, const Dropout&);
HEED_FLOAT_AND_DOUBLE(HEED_INSTANTIATE)
#undef HEED_INSTANTIATE

}  // namespace heed
