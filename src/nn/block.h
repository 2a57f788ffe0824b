// An encoder or a decoder: a stack of blocks. A block is self-attention, then cross-attention (in
// the decoder of an encoder-decoder), then the feed-forward network (if any), each a residual
// branch.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/noise.h"
#include "base/std_names.h"
#include "config/model_config.h"
#include "math/dropout.h"
#include "math/row_ops.h"
#include "nn/attention.h"
#include "nn/embedding.h"
#include "nn/feed_forward.h"
#include "nn/norm.h"

namespace heed {

// A residual connection around a branch f, with dropout (Srivastava et al. 2014) and a norm before
// the branch (Xiong et al. 2020) or after the sum (Vaswani et al. 2017, section 3.1):
//
//   pre:  y = x + drop(f(norm(x)))          post:  y = norm(x + drop(f(x)))
//
// The branch is a callable.
template <class T>
struct ResidualSaved {
  NormSaved<T> norm;  // its input: x (pre), x + drop(f(x)) (post)
  Mat<T> branch;      // f's input: norm(x) (pre), x (post)
};

struct Residual {
  NormPlacement placement;
  Norm norm;
  double rate;          // of dropout
  uint64_t dropout_id;  // identifies its draws

  Residual(ParamTable& table, const string& norm_name, const ModelConfig& config)
      : placement(config.norm),
        norm(table, norm_name, config),
        rate(config.dropout),
        dropout_id(name_key(norm_name)) {}

  // branch(x) -> [rows, d], a new matrix from the workspace.
  template <class T, class Branch>
  Mat<T> forward(Pass<T>& pass, Mat<T> x, const Packed& rows, ResidualSaved<T>& saved,
                 Branch&& branch) const {
    const Dropout dropout = rows.dropout(rate, dropout_id);
    if (placement == NormPlacement::pre) {
      saved.branch = norm.forward(pass, x, saved.norm);
      const Mat<T> y = branch(saved.branch);
      drop_add(y, x, dropout);
      return y;
    }
    saved.branch = x;
    const Mat<T> sum = branch(x);
    drop_add(sum, x, dropout);
    return norm.forward(pass, sum, saved.norm);
  }

  // In place: d is the gradient of y and becomes that of x.
  //   pre:   dx = d + norm'(f'(drop(d)))      post:  e = norm'(d),  dx = e + f'(drop(e))
  // branch_backward(x, dy, dx) is the backward of f at input x; it adds to dx.
  template <class T, class Branch>
  void backward(Pass<T>& pass, Mat<T> d, const Packed& rows, const ResidualSaved<T>& saved,
                Branch&& branch_backward) const {
    WorkspaceScope scope(pass.workspace);
    const Dropout dropout = rows.dropout(rate, dropout_id);
    const Mat<T> other = pass.zeros(d.rows, d.cols), dbranch = pass.matrix(d.rows, d.cols);
    if (placement == NormPlacement::pre) {
      drop(d, dbranch, dropout);
      branch_backward(saved.branch, dbranch, other);
      norm.backward(pass, saved.norm, other, d);
    } else {
      norm.backward(pass, saved.norm, d, other);
      drop(other, dbranch, dropout);
      copy_rows(other, d);
      branch_backward(saved.branch, dbranch, d);
    }
  }
};

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
        const ModelConfig& config, const LayerInit& init)
      : self_attention(table, prefix + ".self_attn", self_kind, layer, config, init),
        self_residual(table, prefix + ".self_attn_norm", config) {
    if (has_cross_attention(self_kind, config)) {
      cross_attention.emplace(table, prefix + ".cross_attn", AttentionKind::cross, layer, config,
                              init);
      cross_residual.emplace(table, prefix + ".cross_attn_norm", config);
    }
    if (config.feed_forward != FeedForwardType::none) {
      feed_forward.emplace(table, prefix, config, init);
      feed_forward_residual.emplace(table, prefix + ".ffn_norm", config);
    }
  }

  // [rows, d] -> [rows, d]
  // y = r_ffn(r_cross(r_self(x))), each r a residual branch
  template <class T>
  Mat<T> forward(Pass<T>& pass, Mat<T> x, const AttentionInput<T>& input,
                 BlockSaved<T>& saved) const {
    const Packed& rows = *input.rows;
    x = self_residual.forward(pass, x, rows, saved.self_residual, [&](In<T> h) {
      return self_attention.forward(pass, h, input, saved.self);
    });
    if (cross_attention)
      x = cross_residual->forward(pass, x, rows, saved.cross_residual, [&](In<T> h) {
        return cross_attention->forward(pass, h, input, saved.cross);
      });
    if (feed_forward)
      x = feed_forward_residual->forward(pass, x, rows, saved.feed_forward_residual, [&](In<T> h) {
        const Mat<T> y = feed_forward->forward(pass, h, rows, saved.feed_forward);
        if (pass.observer)
          pass.observer->on_feed_forward(self_attention.kind, self_attention.layer, y);
        return y;
      });
    return x;
  }
  // In place: d is the gradient of the output and becomes that of x. Adds to input.dmemory.
  // dx = r_self'(r_cross'(r_ffn'(dy)))
  template <class T>
  void backward(Pass<T>& pass, Mat<T> d, const AttentionInput<T>& input,
                const BlockSaved<T>& saved) const {
    const Packed& rows = *input.rows;
    if (feed_forward)
      feed_forward_residual->backward(
          pass, d, rows, saved.feed_forward_residual, [&](In<T> h, In<T> dy, Mat<T> dh) {
            feed_forward->backward(pass, h, rows, saved.feed_forward, dy, dh);
          });
    if (cross_attention)
      cross_residual->backward(pass, d, rows, saved.cross_residual,
                               [&](In<T> h, In<T> dy, Mat<T> dh) {
                                 cross_attention->backward(pass, h, input, saved.cross, dy, dh);
                               });
    self_residual.backward(pass, d, rows, saved.self_residual, [&](In<T> h, In<T> dy, Mat<T> dh) {
      self_attention.backward(pass, h, input, saved.self, dy, dh);
    });
  }
};

// An encoder or a decoder: zero or more blocks and, with pre-norm, a final norm.
template <class T>
struct StackSaved {
  vector<BlockSaved<T>> blocks;  // capacity is reused from step to step
  NormSaved<T> norm;             // the final one
  Angles<T> rotary;
};

struct Stack {
  vector<Block> blocks;
  optional<Norm> norm;
  int rotary_width;  // d_head, or 0 without rotary positions
  double rope_base;

  // `name` is "encoder" or "decoder".
  Stack(ParamTable& table, const string& name, int layers, AttentionKind self_kind,
        const ModelConfig& config)
      : rotary_width(config.positions == Positions::rotary ? config.d_model / config.n_heads : 0),
        rope_base(config.rope_base) {
    const int branches = 1 + (has_cross_attention(self_kind, config) ? 1 : 0) +
                         (config.feed_forward != FeedForwardType::none ? 1 : 0);
    const LayerInit init(config, branches * max(1, layers));
    blocks.reserve(layers);
    for (int i = 0; i < layers; ++i)
      blocks.emplace_back(table, name + ".layers." + to_string(i), self_kind, i, config, init);
    if (config.norm == NormPlacement::pre && layers > 0)
      norm.emplace(table, name + ".norm", config);
  }

  // x must live until backward; a forward_only pass overwrites it. Sets input.rotary.
  // y = norm(block_n(.. block_1(x)))
  template <class T>
  Mat<T> forward(Pass<T>& pass, Mat<T> x, AttentionInput<T> input, StackSaved<T>& saved) const {
    saved.blocks.resize(blocks.size());
    input.rotary = saved.rotary =
        position_angles<T>(pass.workspace, input.rows->positions, rotary_width, rope_base, true);
    for (size_t i = 0; i < blocks.size(); ++i) {
      const Workspace::Mark mark = pass.workspace.mark();
      const Mat<T> y = blocks[i].forward(pass, x, input, saved.blocks[i]);
      if (pass.observer) pass.observer->on_layer(blocks[i].self_attention.kind, int(i), x, y);
      if (pass.forward_only) {
        copy_rows(y, x);
        pass.workspace.rewind(mark);
      } else {
        x = y;
      }
    }
    return norm ? norm->forward(pass, x, saved.norm) : x;
  }
  // In place: d is the gradient of the output and becomes that of x. Adds to input.dmemory.
  // dx = block_1'(.. block_n'(norm'(dy)))
  template <class T>
  void backward(Pass<T>& pass, Mat<T> d, AttentionInput<T> input,
                const StackSaved<T>& saved) const {
    input.rotary = saved.rotary;
    if (norm) {
      WorkspaceScope scope(pass.workspace);
      const Mat<T> dy = pass.matrix(d.rows, d.cols);
      copy_rows(d, dy);
      set_zero(d);
      norm->backward(pass, saved.norm, dy, d);
    }
    for (size_t i = blocks.size(); i-- > 0;) blocks[i].backward(pass, d, input, saved.blocks[i]);
  }
};

}  // namespace heed
