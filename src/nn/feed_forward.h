// The position-wise network (Vaswani et al. 2017, section 3.3), plain or gated (Shazeer 2020, "GLU
// Variants Improve Transformer"; with silu: SwiGLU):
//
//   plain: y = drop(f(x W_1ᵀ + b_1)) W_2ᵀ + b_2
//   gated: y = drop(f(x W_gᵀ + b_g) ⊙ (x W_1ᵀ + b_1)) W_2ᵀ + b_2
#pragma once

#include <string>

#include "base/std_names.h"
#include "nn/linear.h"
#include "nn/param.h"

namespace heed {

template <class T>
struct FeedForwardSaved {
  // [rows, d_ff], the input of f; gated: [rows, 2 d_ff], then the gated values. drop(f(u)) is
  // cheaper to recompute than to keep. Backward overwrites the input of f with the slope.
  Mat<T> u;
};

struct FeedForward {
  bool gated;
  Linear in;   // [d_ff, d]: fc1; gated: [2 d_ff, d]: fc_gate, fc1
  Linear fc2;  // [d, d_ff]
  Activation activation;
  double rate;
  uint64_t dropout_id;

  FeedForward(ParamTable& table, const string& prefix, const ModelConfig& config,
              const LayerInit& init);

  template <class T>
  Mat<T> forward(Pass<T>& pass, In<T> x, const Packed& rows, FeedForwardSaved<T>& saved) const;
  // Adds to dx.
  template <class T>
  void backward(Pass<T>& pass, In<T> x, const Packed& rows, const FeedForwardSaved<T>& saved,
                In<T> dy, Mat<T> dx) const;
};

}  // namespace heed
