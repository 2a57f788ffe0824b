#include "nn/feed_forward.h"

#include "base/noise.h"
#include "base/std_names.h"
#include "math/activation.h"
#include "math/dropout.h"
#include "math/row_ops.h"

namespace heed {
namespace {

vector<LinearPart> first_parts(const string& prefix, const ModelConfig& config,
                               const LayerInit& init) {
  const LinearPart fc1{prefix + ".fc1", config.d_ff, init.weight};
  if (config.feed_forward != FeedForwardType::gated) return {fc1};
  return {{prefix + ".fc_gate", config.d_ff, init.weight}, fc1};
}

// dh becomes du = dh ⊙ v ⊙ slope, and h becomes dv = dh ⊙ f.
template <class T>
void gate_backward(In<T> f, In<T> slope, In<T> v, Mat<T> dh, Mat<T> h) {
  for (int r = 0; r < dh.rows; ++r) {
    const T* __restrict value = f.row(r);
    const T* __restrict s = slope.row(r);
    const T* __restrict gated = v.row(r);
    T* __restrict d = dh.row(r);
    T* __restrict dv = h.row(r);
    for (int c = 0; c < dh.cols; ++c) {
      dv[c] = d[c] * value[c];
      d[c] = d[c] * gated[c] * s[c];
    }
  }
}

}  // namespace

FeedForward::FeedForward(ParamTable& table, const string& prefix, const ModelConfig& config,
                         const LayerInit& init)
    : gated(config.feed_forward == FeedForwardType::gated),
      in(table, config.d_model, first_parts(prefix, config, init), config.bias),
      fc2(table, prefix + ".fc2", config.d_ff, config.d_model, init.branch_output, config.bias),
      activation(config.activation),
      rate(config.activation_dropout),
      dropout_id(name_key(prefix + ".fc1")) {}

// [u v] = x [W_g W_1]ᵀ + [b_g b_1],  h = drop(f(u)) ⊙ v,  y = h W_2ᵀ + b_2
// plain: u = x W_1ᵀ + b_1, without v
template <class T>
Mat<T> FeedForward::forward(Pass<T>& pass, In<T> x, const Packed& rows,
                            FeedForwardSaved<T>& saved) const {
  const int d_ff = fc2.weight.cols;
  saved.u = in.forward(pass, x);
  const Mat<T> y = pass.matrix(x.rows, fc2.weight.rows);
  WorkspaceScope scope(pass.workspace);
  const Mat<T> h = pass.matrix(x.rows, d_ff);
  activate(activation, saved.u.part(0, d_ff), h, rows.dropout(rate, dropout_id));
  if (gated) multiply_by(saved.u.part(1, d_ff), h);
  fc2.forward_into(pass, h, y);
  return y;
}

// dh = dy W_2,  dv = dh ⊙ drop(f(u)),  du = drop(dh ⊙ v) f'(u),  dx += [du dv] [W_g W_1]
template <class T>
void FeedForward::backward(Pass<T>& pass, In<T> x, const Packed& rows,
                           const FeedForwardSaved<T>& saved, In<T> dy, Mat<T> dx) const {
  WorkspaceScope scope(pass.workspace);
  const int d_ff = fc2.weight.cols;
  const Mat<T> u = saved.u.part(0, d_ff), f = pass.matrix(x.rows, d_ff);
  const Mat<T> duv = pass.matrix(x.rows, saved.u.cols);
  activate_with_slope(activation, u, f, rows.dropout(rate, dropout_id));
  const Mat<T> slope = u;  // in its place: one matrix less is a fiftieth of a small run's memory
  const Mat<T> dh = duv.part(0, d_ff);
  set_zero(dh);
  if (gated) {
    const Mat<T> v = saved.u.part(1, d_ff), h = duv.part(1, d_ff);
    copy_rows(f, h);
    multiply_by(v, h);
    fc2.backward(pass, h, dy, dh);
    gate_backward<T>(f, slope, v, dh, h);
  } else {
    fc2.backward(pass, f, dy, dh);
    multiply_by(slope, dh);
  }
  in.backward(pass, x, duv, dx);
}

#define HEED_INSTANTIATE(T)                                                                       \
  template Mat<T> FeedForward::forward(Pass<T>&, In<T>, const Packed&, FeedForwardSaved<T>&)      \
      const;                                                                                      \
  template void FeedForward::backward(Pass<T>&, In<T>, const Packed&, const FeedForwardSaved<T>&, \
                                      In<T>, Mat<T>) const;
HEED_FLOAT_AND_DOUBLE(HEED_INSTANTIATE)
#undef HEED_INSTANTIATE

}  // namespace heed
