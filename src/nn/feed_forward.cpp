#include "nn/feed_forward.h"

#include "base/noise.h"
#include "math/activation.h"
#include "math/dropout.h"

namespace heed {
FeedForward::FeedForward(ParamTable& table, const std::string& prefix, const ModelConfig& config,
                         const InitRule& init, const InitRule& out_init)
    : fc1(table, prefix + ".fc1", config.d_model, config.d_ff, init),
      fc2(table, prefix + ".fc2", config.d_ff, config.d_model, out_init),
      activation(config.activation),
      rate(config.dropout),
      site(name_key(prefix + ".fc1")) {}

template <class T>
Mat<T> FeedForward::forward(Pass<T>& pass, Mat<const T> x, const Rows& rows,
                            FeedForwardSaved<T>& saved) const {
  saved.u = fc1.forward(pass, x);
  const Mat<T> y = pass.workspace.template rows<T>(x.rows, fc2.weight.rows);
  WorkspaceScope scope(pass.workspace);
  const Mat<T> h = pass.workspace.template rows<T>(saved.u.rows, saved.u.cols);
  {
    Timed timed(pass.profile, Work::norms_activations);
    activate(activation, Mat<const T>(saved.u), h, rows.dropout(rate, site));
  }
  fc2.forward_into(pass, Mat<const T>(h), y);
  return y;
}

// dh = dy W_2,  du = drop(dh) f'(u),  dx += du W_1
template <class T>
void FeedForward::backward(Pass<T>& pass, Mat<const T> x, const Rows& rows,
                           const FeedForwardSaved<T>& saved, Mat<const T> dy, Mat<T> dx) const {
  WorkspaceScope scope(pass.workspace);
  const Mat<T> u = saved.u;
  const Mat<T> h = pass.workspace.template rows<T>(u.rows, u.cols);
  const Mat<T> d = pass.workspace.template zeros<T>(u.rows, u.cols);
  {
    Timed timed(pass.profile, Work::norms_activations);
    activate_with_slope(activation, u, h, rows.dropout(rate, site));
  }
  fc2.backward(pass, Mat<const T>(h), dy, d);
  {
    Timed timed(pass.profile, Work::norms_activations);
    activate_backward(Mat<const T>(u), d);
  }
  fc1.backward(pass, x, Mat<const T>(d), dx);
}

#define HEED_INSTANTIATE(T)                                                                       \
  template Mat<T> FeedForward::forward(Pass<T>&, Mat<const T>, const Rows&, FeedForwardSaved<T>&) \
      const;                                                                                      \
  template void FeedForward::backward(Pass<T>&, Mat<const T>, const Rows&,                        \
                                      const FeedForwardSaved<T>&, Mat<const T>, Mat<T>) const;
HEED_INSTANTIATE(float)
HEED_INSTANTIATE(double)
#undef HEED_INSTANTIATE

}  // namespace heed
