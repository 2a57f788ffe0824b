#include "math/attention_head.h"

#include <algorithm>

#include "base/std_names.h"
#include "math/lanes.h"
#include "math/packed_gemm.h"
#include "math/row_ops.h"
#include "math/softmax.h"

namespace heed {
namespace {

// Queries come in blocks, so that a causal block can skip keys that none of its queries see.
constexpr int kQueryBlock = 24;

template <class T, class Body>
void for_query_blocks(const AttentionHead<T>& h, Body&& body) {
  const int step = h.causal ? kQueryBlock : h.q.rows;
  for (int begin = 0; begin < h.q.rows; begin += step) {
    const int end = min(h.q.rows, begin + step);
    body(begin, end, h.visible(end - 1));
  }
}

// drop(p) for the rows of P from `begin` on; p itself without dropout.
template <class T>
Mat<T> dropped(const AttentionHead<T>& h, int begin, Mat<T> p, Workspace& workspace) {
  if (!h.dropout.on()) return p;
  Dropout dropout = h.dropout;
  dropout.row_keys += begin;
  const Mat<T> copy = workspace.matrix<T>(p.rows, p.cols);
  drop(p, copy, dropout);
  return copy;
}

}  // namespace

// P = softmax(scale Q Kᵀ);  O = drop(P) V
template <class T>
void head_forward(const AttentionHead<T>& h, Workspace& workspace) {
  WorkspaceScope packed(workspace);
  const PackedOperand<T> v = pack(as_is(h.v), workspace);
  PackedOperand<T> k_t{};
  if (!h.uniform) k_t = pack(transposed(h.k), workspace);
  for_query_blocks(h, [&](int begin, int end, int keys) {
    WorkspaceScope scope(workspace);
    const Mat<T> p = h.p.row_range(begin, end);
    if (h.uniform) {
      for (int i = begin; i < end; ++i) {
        std::fill_n(h.p.row(i), h.visible(i), T{1} / h.visible(i));
        std::fill(h.p.row(i) + h.visible(i), h.p.row(i) + h.p.cols, T{0});
      }
    } else {
      const int wide = padded_keys(keys);
      gemm(h.scale, as_is(h.q.row_range(begin, end)), k_t.col_range(wide), 0, p.col_range(0, wide));
      for (int i = begin; i < end; ++i) softmax(h.p.row(i), h.visible(i), h.p.cols);
    }
    const Mat<T> dropped_p = dropped(h, begin, p.col_range(0, padded_keys(keys)), workspace);
    gemm(1, as_is(dropped_p.col_range(0, keys)), v.row_range(0, keys), 0,
         h.o.row_range(begin, end));
  });
}

// With D = drop(P):  dV += Dᵀ dO,  dD = dO Vᵀ,  dS = D dD - P rowsum(D dD),
// dQ += scale dS K,  dK += scale dSᵀ Q.
// (dP is the gradient of D under the same mask, so P dP = D dD: the mask is needed once.)
template <class T>
void head_backward(const AttentionHead<T>& h, const HeadGradients<T>& g, Workspace& workspace) {
  WorkspaceScope packed(workspace);
  const PackedOperand<T> d_out = pack(as_is(g.d_o), workspace);
  PackedOperand<T> v_t{}, q{}, k{};
  if (!h.uniform) {
    v_t = pack(transposed(h.v), workspace);
    q = pack(as_is(h.q), workspace);
    k = pack(as_is(h.k), workspace);
  }
  for_query_blocks(h, [&](int begin, int end, int keys) {
    WorkspaceScope scope(workspace);
    const int n = end - begin, wide = padded_keys(keys);
    const Mat<T> p = h.p.row_range(begin, end).col_range(0, wide);
    const Mat<T> dropped_p = dropped(h, begin, p, workspace);
    gemm(1, transposed(dropped_p.col_range(0, keys)), d_out.row_range(begin, end), 1,
         g.dv.row_range(0, keys));
    if (h.uniform) return;
    const Mat<T> ds = workspace.matrix<T>(n, wide);
    gemm(1, as_is(g.d_o.row_range(begin, end)), v_t.col_range(wide), 0, ds);
    for (int i = 0; i < n; ++i) {
      const T* __restrict weight = p.row(i);
      const T* __restrict drop_p = dropped_p.row(i);
      T* __restrict x = ds.row(i);
      Lanes<T> sums{};
      for_lanes<T>(0, wide, [&](auto at) { sums = fuse(at.load(drop_p), at.load(x), sums); });
      const T sum = total(sums);
      for (int j = 0; j < wide; ++j) x[j] = fuse(drop_p[j], x[j], -(weight[j] * sum));
    }
    const Mat<T> ds_keys = ds.col_range(0, keys);
    gemm(h.scale, as_is(ds_keys), k.row_range(0, keys), 1, g.dq.row_range(begin, end));
    gemm(h.scale, transposed(ds_keys), q.row_range(begin, end), 1, g.dk.row_range(0, keys));
  });
}

#define HEED_INSTANTIATE(T)                                        \
  template void head_forward(const AttentionHead<T>&, Workspace&); \
  template void head_backward(const AttentionHead<T>&, const HeadGradients<T>&, Workspace&);
HEED_FLOAT_AND_DOUBLE(HEED_INSTANTIATE)
#undef HEED_INSTANTIATE

}  // namespace heed
