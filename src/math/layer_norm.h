// Layer normalisation (Ba, Kiros and Hinton 2016), forward and backward.
#pragma once

#include "math/mat.h"

namespace heed {

// LayerNorm, biased variance, eps 1e-5: y = (x - mean) / sqrt(var + eps) * gain + bias.
// stats [rows, 2] keeps mean and 1 / sqrt(var + eps) of each row. y may be x.
template <class T>
void layer_norm(Mat<const T> x, Mat<const T> gain, Mat<const T> bias, Mat<T> y, Mat<T> stats);
// dx += the gradient through the norm; dgain, dbias += theirs.
template <class T>
void layer_norm_backward(Mat<const T> x, Mat<const T> gain, Mat<const T> stats, Mat<const T> dy,
                         Mat<T> dx, Mat<T> dgain, Mat<T> dbias);

}  // namespace heed
