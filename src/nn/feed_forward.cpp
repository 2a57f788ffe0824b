#include "nn/feed_forward.h"

#include "base/noise.h"
#include "math/activation.h"
#include "math/dropout.h"

namespace heed {

FeedForward::FeedForward(ParamTable& table, const std::string& prefix, const ModelConfig& config,
                         const LayerInit& init)
    : fc1(table, prefix + ".fc1", config.d_model, config.d_ff, init.weight),
      fc2(table, prefix + ".fc2", config.d_ff, config.d_model, init.branch_output),
      activation(config.activation),
      rate(config.dropout),
      dropout_id(name_key(prefix + ".fc1")) {}

// u = x W_1ᵀ + b_1,  h = drop(f(u)),  y = h W_2ᵀ + b_2
template <class T>
Mat<T> FeedForward::forward(Pass<T>& pass, In<T> x, const Packed& rows,
                            FeedForwardSaved<T>& saved) const {
  Timed timed(pass.profile, Work::norms_activations);
  saved.u = fc1.forward(pass, x);
  const Mat<T> y = pass.matrix(x.rows, fc2.weight.rows);
  WorkspaceScope scope(pass.workspace);
  const Mat<T> h = pass.matrix(saved.u.rows, saved.u.cols);
  activate(activation, saved.u, h, rows.dropout(rate, dropout_id));
  fc2.forward_into(pass, h, y);
  return y;
}

// dh = dy W_2,  du = drop(dh) f'(u),  dx += du W_1
template <class T>
void FeedForward::backward(Pass<T>& pass, In<T> x, const Packed& rows,
                           const FeedForwardSaved<T>& saved, In<T> dy, Mat<T> dx) const {
  Timed timed(pass.profile, Work::norms_activations);
  WorkspaceScope scope(pass.workspace);
  const Mat<T> u = saved.u, h = pass.matrix(u.rows, u.cols), d = pass.zeros(u.rows, u.cols);
  activate_with_slope(activation, u, h, rows.dropout(rate, dropout_id));  // u becomes dh/du
  fc2.backward(pass, h, dy, d);
  activate_backward(u, d);
  fc1.backward(pass, x, d, dx);
}

#define HEED_INSTANTIATE(T)                                                                       \
  template Mat<T> FeedForward::forward(Pass<T>&, In<T>, const Packed&, FeedForwardSaved<T>&)      \
      const;                                                                                      \
  template void FeedForward::backward(Pass<T>&, In<T>, const Packed&, const FeedForwardSaved<T>&, \
                                      In<T>, Mat<T>) const;
HEED_INSTANTIATE(float)
HEED_INSTANTIATE(double)
#undef HEED_INSTANTIATE

}  // namespace heed
