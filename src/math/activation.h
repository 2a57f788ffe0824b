// The function between the two layers of a feed-forward block, fused with its dropout. Each is one
// sweep.
#pragma once

#include "math/dropout.h"

namespace heed {

// h = dropout(f(u)) with f one of relu, gelu (the exact form; Hendrycks and Gimpel 2016), silu
// (Elfwing, Uchibe and Doya 2018).
enum class Activation { relu, gelu, silu };
template <class T>
void activate(Activation f, In<T> u, Mat<T> h, const Dropout& dropout);
// For backward: computes h again, with its slope. In place, u becomes dh/du.
template <class T>
void activate_with_slope(Activation f, Mat<T> u, Mat<T> h, const Dropout& dropout);
// In place: d holds the gradient of h and becomes that of u, d * slope.
template <class T>
void activate_backward(In<T> slope, Mat<T> d);

}  // namespace heed
