#include "nn/block.h"

namespace heed {

Block::Block(ParamTable& table, const std::string& prefix, AttentionKind self_kind, bool cross,
             int layer, const ModelConfig& config, const InitRule& init, const InitRule& out_init)
    : self_attention(table, prefix + ".self_attn", self_kind, layer, config, init, out_init),
      self_residual(table, prefix + ".self_attn_norm", config),
      cross_attention(cross ? std::optional<Attention>(std::in_place, table, prefix + ".cross_attn",
                                                       AttentionKind::cross, layer, config, init,
                                                       out_init)
                            : std::nullopt),
      cross_residual(
          cross ? std::optional<Residual>(std::in_place, table, prefix + ".cross_attn_norm", config)
                : std::nullopt),
      feed_forward(table, prefix, config, init, out_init),
      feed_forward_residual(table, prefix + ".ffn_norm", config) {}

template <class T>
Mat<T> Block::forward(Pass<T>& pass, Mat<T> x, const Rows& rows, const AttentionInput<T>& input,
                      BlockSaved<T>& saved) const {
  x = self_residual.forward(pass, x, rows, saved.self_residual, [&](Mat<const T> y) {
    return self_attention.forward(pass, y, rows, input, saved.self);
  });
  if (cross_attention) {
    x = cross_residual->forward(pass, x, rows, saved.cross_residual, [&](Mat<const T> y) {
      return cross_attention->forward(pass, y, rows, input, saved.cross);
    });
  }
  return feed_forward_residual.forward(
      pass, x, rows, saved.feed_forward_residual,
      [&](Mat<const T> y) { return feed_forward.forward(pass, y, rows, saved.feed_forward); });
}

template <class T>
void Block::backward(Pass<T>& pass, Mat<T> d, const Rows& rows, const AttentionInput<T>& input,
                     const BlockSaved<T>& saved, Mat<T> dmemory) const {
  feed_forward_residual.backward(
      pass, d, rows, saved.feed_forward_residual, [&](Mat<const T> dy, Mat<T> dx) {
        feed_forward.backward(pass, Mat<const T>(saved.feed_forward_residual.branch), rows,
                              saved.feed_forward, dy, dx);
      });
  if (cross_attention) {
    cross_residual->backward(pass, d, rows, saved.cross_residual, [&](Mat<const T> dy, Mat<T> dx) {
      cross_attention->backward(pass, Mat<const T>(saved.cross_residual.branch), rows, input,
                                saved.cross, dy, dx, dmemory);
    });
  }
  self_residual.backward(pass, d, rows, saved.self_residual, [&](Mat<const T> dy, Mat<T> dx) {
    self_attention.backward(pass, Mat<const T>(saved.self_residual.branch), rows, input, saved.self,
                            dy, dx, Mat<T>());
  });
}

#define HEED_INSTANTIATE(T)                                                               \
  template Mat<T> Block::forward(Pass<T>&, Mat<T>, const Rows&, const AttentionInput<T>&, \
                                 BlockSaved<T>&) const;                                   \
  template void Block::backward(Pass<T>&, Mat<T>, const Rows&, const AttentionInput<T>&,  \
                                const BlockSaved<T>&, Mat<T>) const;
HEED_INSTANTIATE(float)
HEED_INSTANTIATE(double)
#undef HEED_INSTANTIATE

}  // namespace heed
