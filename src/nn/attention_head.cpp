#include "nn/attention_head.h"

#include <algorithm>

#include "math/blas.h"
#include "math/rows.h"
#include "math/softmax.h"

namespace heed {
namespace {

// Queries are handled in blocks, so that a causal block leaves out the keys none of it sees.
constexpr int kQueryBlock = 64;

template <class T, class Body>
void for_query_blocks(const AttentionHead<T>& h, Body&& body) {
  const int step = h.causal ? kQueryBlock : h.q.rows;
  for (int begin = 0; begin < h.q.rows; begin += step) {
    const int end = std::min(h.q.rows, begin + step);
    body(begin, end, h.visible(end - 1));
  }
}

Dropout rows_from(Dropout d, int row) {
  if (d.row_keys) d.row_keys += row;
  return d;
}

}  // namespace

// P = softmax(scale Q Kᵀ);  O = drop(P) V
template <class T>
void head_forward(const AttentionHead<T>& h, Mat<T> o, Workspace& workspace) {
  for_query_blocks(h, [&](int begin, int end, int keys) {
    WorkspaceScope scope(workspace);
    Mat<T> p = h.p.row_range(begin, end);
    if (h.uniform) {
      for (int i = begin; i < end; ++i) {
        std::fill_n(h.p.row(i), h.visible(i), T{1} / h.visible(i));
        std::fill(h.p.row(i) + h.visible(i), h.p.row(i) + h.p.cols, T{0});
      }
    } else {
      gemm(h.scale, plain(h.q.row_range(begin, end)), transposed(h.k.row_range(0, keys)), T{0},
           p.col_range(0, keys));
      for (int i = begin; i < end; ++i) softmax(h.p.row(i), h.visible(i), h.p.cols);
    }
    Mat<T> dropped = p.col_range(0, keys);
    if (h.dropout.on()) {
      dropped = workspace.rows<T>(end - begin, keys);
      copy_rows<T>(p.col_range(0, keys), dropped);
      drop_in_place(dropped, rows_from(h.dropout, begin));
    }
    gemm(T{1}, plain(dropped), plain(h.v.row_range(0, keys)), T{0}, o.row_range(begin, end));
  });
}

// With D = drop(P):  dV += Dᵀ dO,  dD = dO Vᵀ,  dS = D dD - P rowsum(D dD),
// dQ += scale dS K,  dK += scale dSᵀ Q
// (dP is the gradient of D under the same mask, so P dP = D dD: the mask is needed once.)
template <class T>
void head_backward(const AttentionHead<T>& h, Mat<const T> d_o, Mat<T> dq, Mat<T> dk, Mat<T> dv,
                   Workspace& workspace) {
  for_query_blocks(h, [&](int begin, int end, int keys) {
    WorkspaceScope scope(workspace);
    const int n = end - begin;
    const Mat<const T> p = h.p.row_range(begin, end).col_range(0, keys);
    const Mat<const T> d_out = d_o.row_range(begin, end);
    Mat<const T> dropped = p;
    if (h.dropout.on()) {
      const Mat<T> buffer = workspace.rows<T>(n, keys);
      copy_rows(p, buffer);
      drop_in_place(buffer, rows_from(h.dropout, begin));
      dropped = buffer;
    }
    gemm(T{1}, transposed(dropped), plain(d_out), T{1}, dv.row_range(0, keys));
    if (h.uniform) return;
    const Mat<T> ds = workspace.rows<T>(n, keys);
    gemm(T{1}, plain(d_out), transposed(h.v.row_range(0, keys)), T{0}, ds);
    for (int i = 0; i < n; ++i) {
      const T* __restrict weight = p.row(i);
      const T* __restrict kept = dropped.row(i);
      T* __restrict d = ds.row(i);
      T sum = 0;
#pragma omp simd reduction(+ : sum)
      for (int j = 0; j < keys; ++j) sum += kept[j] * d[j];
      for (int j = 0; j < keys; ++j) d[j] = kept[j] * d[j] - weight[j] * sum;
    }
    gemm(h.scale, plain(ds), plain(h.k.row_range(0, keys)), T{1}, dq.row_range(begin, end));
    gemm(h.scale, transposed(ds), plain(h.q.row_range(begin, end)), T{1}, dk.row_range(0, keys));
  });
}

#define HEED_INSTANTIATE(T)                                                                  \
  template void head_forward(const AttentionHead<T>&, Mat<T>, Workspace&);                   \
  template void head_backward(const AttentionHead<T>&, Mat<const T>, Mat<T>, Mat<T>, Mat<T>, \
                              Workspace&);
HEED_INSTANTIATE(float)
HEED_INSTANTIATE(double)
#undef HEED_INSTANTIATE

}  // namespace heed
