// An encoder or a decoder: zero or more blocks and, with pre-norm, a final norm.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/std_names.h"
#include "nn/block.h"
#include "nn/embedding.h"

namespace heed {

template <class T>
struct StackSaved {
  vector<BlockSaved<T>> blocks;  // capacity is reused from step to step
  Mat<T> last, stats;            // of the final norm
  Angles<T> rotary;
};

struct Stack {
  vector<Block> blocks;
  optional<Norm> norm;
  AngleTable rotary;  // of width d_head, or 0 without rotary positions

  // `name` is "encoder" or "decoder".
  Stack(ParamTable& table, const string& name, int layers, AttentionKind self_kind,
        const ModelConfig& config);

  // x must live until backward; a forward_only pass overwrites it. Sets input.rotary.
  template <class T>
  Mat<T> forward(Pass<T>& pass, Mat<T> x, AttentionInput<T> input, StackSaved<T>& saved) const;
  // In place: d is the gradient of the output and becomes that of x. Adds to input.dmemory.
  template <class T>
  void backward(Pass<T>& pass, Mat<T> d, AttentionInput<T> input, const StackSaved<T>& saved) const;
};

}  // namespace heed
