// Layer normalisation (Ba, Kiros and Hinton 2016), forward and backward.
#pragma once

#include "math/mat.h"

namespace heed {

// LayerNorm, biased variance, eps 1e-5: y = (x - mean) / sqrt(var + eps) * gain + bias.
// stats [rows, 2] keeps mean and 1 / sqrt(var + eps) of each row. y may be x.
template <class T>
void layer_norm(In<T> x, In<T> gain, In<T> bias, Mat<T> y, Mat<T> stats);
// dx += the gradient through the norm; dgain, dbias += theirs.
template <class T>
void layer_norm_backward(In<T> x, In<T> gain, In<T> stats, In<T> dy, Mat<T> dx, Mat<T> dgain,
                         Mat<T> dbias);

}  // namespace heed
