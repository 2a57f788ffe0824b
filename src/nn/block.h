// One layer of a stack: self-attention, then cross-attention (in the decoder of an
// encoder-decoder), then the feed-forward network (if any). Each is a residual branch.
#pragma once

#include <optional>
#include <string>

#include "base/std_names.h"
#include "nn/attention.h"
#include "nn/feed_forward.h"
#include "nn/residual.h"

namespace heed {

// What is saved here is memory of a training.
template <class T>
struct BlockSaved {
  AttentionSaved<T> self, cross;
  FeedForwardSaved<T> feed_forward;
  ResidualSaved<T> self_residual, cross_residual, feed_forward_residual;
};

struct Block {
  Attention self_attention;
  Residual self_residual;
  optional<Attention> cross_attention;
  optional<Residual> cross_residual;
  optional<FeedForward> feed_forward;
  optional<Residual> feed_forward_residual;

  // `prefix`: "decoder.layers.0".
  Block(ParamTable& table, const string& prefix, AttentionKind self_kind, int layer,
        const ModelConfig& config, const LayerInit& init);

  // [rows, d] -> [rows, d]
  template <class T>
  Mat<T> forward(Pass<T>& pass, Mat<T> x, const AttentionInput<T>& input,
                 BlockSaved<T>& saved) const;
  // In place: d is the gradient of the output and becomes that of x. Adds to input.dmemory.
  template <class T>
  void backward(Pass<T>& pass, Mat<T> d, const AttentionInput<T>& input,
                const BlockSaved<T>& saved) const;
};

}  // namespace heed
