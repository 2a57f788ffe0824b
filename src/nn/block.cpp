#include "nn/block.h"

#include <algorithm>

namespace heed {

Block::Block(ParamTable& table, const string& prefix, AttentionKind self_kind, int layer,
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

// y = r_ffn(r_cross(r_self(x))), each r a residual branch
template <class T>
Mat<T> Block::forward(Pass<T>& pass, Mat<T> x, const AttentionInput<T>& input,
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

// dx = r_self'(r_cross'(r_ffn'(dy)))
template <class T>
void Block::backward(Pass<T>& pass, Mat<T> d, const AttentionInput<T>& input,
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

Stack::Stack(ParamTable& table, const string& name, int layers, AttentionKind self_kind,
             const ModelConfig& config) {
  const int branches = 1 + (has_cross_attention(self_kind, config) ? 1 : 0) +
                       (config.feed_forward != FeedForwardType::none ? 1 : 0);
  const LayerInit init(config, branches * max(1, layers));
  blocks.reserve(layers);
  for (int i = 0; i < layers; ++i)
    blocks.emplace_back(table, name + ".layers." + to_string(i), self_kind, i, config, init);
  if (config.norm == NormPlacement::pre && layers > 0) norm.emplace(table, name + ".norm", config);
  if (config.positions == Positions::rotary)
    rotary = {
        .width = config.d_model / config.n_heads, .base = config.rope_base, .cos_first = true};
}

// y = norm(block_n(.. block_1(x)))
template <class T>
Mat<T> Stack::forward(Pass<T>& pass, Mat<T> x, AttentionInput<T> input,
                      StackSaved<T>& saved) const {
  saved.blocks.resize(blocks.size());
  saved.rotary = {};
  if (rotary.width > 0)
    saved.rotary = position_angles<T>(pass.workspace, position_range(*input.rows), rotary);
  input.rotary = saved.rotary;
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
  if (!norm) return x;
  saved.last = x;
  const auto n = norm->forward(pass, x);
  saved.stats = n.stats;
  return n.y;
}

// dx = block_1'(.. block_n'(norm'(dy)))
template <class T>
void Stack::backward(Pass<T>& pass, Mat<T> d, AttentionInput<T> input,
                     const StackSaved<T>& saved) const {
  input.rotary = saved.rotary;
  if (norm) {
    WorkspaceScope scope(pass.workspace);
    const Mat<T> dy = pass.matrix(d.rows, d.cols);
    copy_rows(d, dy);
    set_zero(d);
    norm->backward(pass, saved.last, saved.stats, dy, d);
  }
  for (size_t i = blocks.size(); i-- > 0;) blocks[i].backward(pass, d, input, saved.blocks[i]);
}

#define HEED_INSTANTIATE(T)                                                                       \
  template Mat<T> Block::forward(Pass<T>&, Mat<T>, const AttentionInput<T>&, BlockSaved<T>&)      \
      const;                                                                                      \
  template void Block::backward(Pass<T>&, Mat<T>, const AttentionInput<T>&, const BlockSaved<T>&) \
      const;                                                                                      \
  template Mat<T> Stack::forward(Pass<T>&, Mat<T>, AttentionInput<T>, StackSaved<T>&) const;      \
  template void Stack::backward(Pass<T>&, Mat<T>, AttentionInput<T>, const StackSaved<T>&) const;
HEED_INSTANTIATE(float)
HEED_INSTANTIATE(double)
#undef HEED_INSTANTIATE

}  // namespace heed
