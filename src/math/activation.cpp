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

// relu2(u) = max(0, u)^2;  relu2'(u) = 2 max(0, u)
struct SquaredRelu {
  template <class T>
  static ValueAndSlope<T> at(T u) {
    const T positive = Relu::at(u).value;
    return {positive * positive, T{2} * positive};
  }
};

// gelu(u) = u Phi(u);  gelu'(u) = Phi(u) + u phi(u)
struct Gelu {
  template <class T>
  static ValueAndSlope<T> at(T u) {
    const Normal<T> n = standard_normal(u);
    return {u * n.cdf, fuse(u, n.pdf, n.cdf)};
  }
};

// silu(u) = u s(u), s the logistic function;  silu'(u) = s + u s (1 - s)
struct Silu {
  template <class T>
  static ValueAndSlope<T> at(T u) {
    const T s = T{1} / (T{1} + fast_exp(-u));
    return {u * s, fuse(u * s, T{1} - s, s)};
  }
};

// gelu_tanh(u) = u (1 + tanh z) / 2 = u s(2z),  z = sqrt(2/pi) (u + 0.044715 u^3)
struct GeluTanh {
  template <class T>
  static ValueAndSlope<T> at(T u) {
    constexpr T kTwice = T(1.5957691216057308), kCubic = T(0.044715);
    const T s = T{1} / (T{1} + fast_exp(-kTwice * u * fuse(kCubic * u, u, T{1})));
    const T slope = kTwice * fuse(T{3} * kCubic * u, u, T{1});  // of 2z
    return {u * s, s * fuse(u * (T{1} - s), slope, T{1})};
  }
};

// Calls body with the function as a type, so that loops have no branch.
template <class Body>
void with_function(Activation f, Body&& body) {
  switch (f) {
    case Activation::relu:
      return body(Relu{});
    case Activation::gelu:
      return body(Gelu{});
    case Activation::silu:
      return body(Silu{});
    case Activation::relu2:
      return body(SquaredRelu{});
    case Activation::gelu_tanh:
      return body(GeluTanh{});
  }
}

}  // namespace

template <class T>
void activate(Activation function, In<T> u, Mat<T> h, const Dropout& dropout) {
  with_function(function, [&](auto f) {
    for_rows<T>(u.rows, dropout, [&](int r, auto mask) {
      const T* __restrict p = u.row(r);
      T* __restrict q = h.row(r);
      for (int c = 0; c < u.cols; ++c) q[c] = mask(c) * f.at(p[c]).value;
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
        const auto at = f.at(p[c]);
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
HEED_INSTANTIATE(float)
HEED_INSTANTIATE(double)
#undef HEED_INSTANTIATE

}  // namespace heed
