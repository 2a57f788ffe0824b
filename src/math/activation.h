// The function between the two layers of a feed-forward block, fused with its dropout in one
// sweep.
#pragma once

#include "math/dropout.h"

namespace heed {

// h = dropout(f(u)) with f one of relu, gelu (the exact form; Hendrycks and Gimpel 2016), silu
// (Elfwing, Uchibe and Doya 2018), relu2 = relu squared (So et al. 2021, "Primer"), gelu_tanh (the
// approximation of GPT-2).
enum class Activation { relu, gelu, silu, relu2, gelu_tanh };
// Not differentiable somewhere: finite differences fail there.
constexpr bool has_corner(Activation f) {
  return f == Activation::relu || f == Activation::relu2;
}
template <class T>
void activate(Activation f, In<T> u, Mat<T> h, const Dropout& dropout);
// For backward: computes h again and, in place, turns u into dh/du.
template <class T>
void activate_with_slope(Activation f, Mat<T> u, Mat<T> h, const Dropout& dropout);

}  // namespace heed
