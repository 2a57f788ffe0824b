#include "nn/block.h"
#include "base/std_names.h"

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

#define HEED_INSTANTIATE(T)                                                                       \
  template Mat<T> Block::forward(Pass<T>&, Mat<T>, const AttentionInput<T>&, BlockSaved<T>&)      \
      const;                                                                                      \
  template void Block::backward(Pass<T>&, Mat<T>, const AttentionInput<T>&, const BlockSaved<T>&) \
      const;
HEED_INSTANTIATE(float)
HEED_INSTANTIATE(double)
#undef HEED_INSTANTIATE

}  // namespace heed
