// The position-wise network (Vaswani et al. 2017, section 3.3):
//
//   y = drop(f(x W_1ᵀ + b_1)) W_2ᵀ + b_2          f one of relu, gelu, silu
#pragma once

#include <string>

#include "nn/layer_init.h"
#include "nn/linear.h"

namespace heed {

template <class T>
struct FeedForwardSaved {
  // [rows, d_ff], the input of f. drop(f(u)) is cheaper to compute again than to keep. Backward
  // overwrites u with the slope.
  Mat<T> u;
};

struct FeedForward {
  Linear fc1, fc2;
  Activation activation;
  double rate;
  std::uint64_t dropout_id;

  FeedForward(ParamTable& table, const std::string& prefix, const ModelConfig& config,
              const LayerInit& init);

  template <class T>
  Mat<T> forward(Pass<T>& pass, In<T> x, const Packed& rows, FeedForwardSaved<T>& saved) const;
  // Adds to dx.
  template <class T>
  void backward(Pass<T>& pass, In<T> x, const Packed& rows, const FeedForwardSaved<T>& saved,
                In<T> dy, Mat<T> dx) const;
};

}  // namespace heed
