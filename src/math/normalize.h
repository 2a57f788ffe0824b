// LayerNorm (Ba, Kiros and Hinton 2016) and RMSNorm (Zhang and Sennrich 2019), forward and
// backward. RMSNorm is LayerNorm with the mean taken as 0.
#pragma once

#include "math/mat.h"

namespace heed {

enum class NormType { layer, rms };
struct NormKind {
  NormType type = NormType::layer;
  double eps = 1e-5;
};

// y = (x - mean) / sqrt(var + eps) * gain + bias; var is biased. RMSNorm: mean = 0, so that var is
// the mean square. stats [rows, 2] keeps mean and 1 / sqrt(var + eps) of each row. y may be x.
template <class T>
void normalize(NormKind kind, In<T> x, In<T> gain, In<T> bias, Mat<T> y, Mat<T> stats);

// Backward adds to these.
template <class T>
struct NormGradients {
  Mat<T> dx, dgain, dbias;
};
template <class T>
void normalize_backward(NormType type, In<T> x, In<T> gain, In<T> stats, In<T> dy,
                        const NormGradients<T>& to);

}  // namespace heed
