// The heart: one head of one sequence, forward and backward, on views of the packed rows.
//
// Training multiplies blocks of queries with packed keys and values (math/packed_gemm.h). Decoding
// has one query at a time and a key/value cache that grows by a row. There packing costs more than
// the product (2.0 to 2.4 times the time for 32 to 256 keys, d_head 32 and 64, on a Zen 3). So
// decoding has its own kernel (math/batch_invariant.h), with the same scale, mask and softmax.
#pragma once

#include "math/dropout.h"
#include "math/mat.h"
#include "math/workspace.h"

namespace heed {

// Columns of P in memory: whole vectors, so that its rows have no scalar tail.
constexpr int padded_keys(int m) {
  return (m + 7) / 8 * 8;
}

// How many of m keys query i of n sees. Causal: the last query sees all of them.
constexpr int visible_keys(bool causal, int i, int n, int m) {
  return causal ? m - n + i + 1 : m;
}

// n queries, m keys. The matrices belong to the pass.
template <class T>
struct AttentionHead {
  Mat<const T> q;  // [n, d_head]
  Mat<const T> k;  // [m, d_head]
  Mat<const T> v;  // [m, d_head]
  Mat<T> p;        // [n, padded_keys(m)] softmax weights, before dropout; 0 beyond m
  Mat<T> o;        // [n, d_head]
  T scale;
  bool causal, uniform;
  Dropout dropout;

  int visible(int query) const { return visible_keys(causal, query, q.rows, k.rows); }
};

// P = softmax(scale Q Kᵀ);  O = drop(P) V. Overwrites h.p and h.o.
template <class T>
void head_forward(const AttentionHead<T>& h, Workspace& workspace);

// The gradient of O, and those that backward adds to.
template <class T>
struct HeadGradients {
  Mat<const T> d_o;  // [n, d_head]
  Mat<T> dq;         // [n, d_head]
  Mat<T> dk, dv;     // [m, d_head]
};

// Adds the gradients, from dO and P.
template <class T>
void head_backward(const AttentionHead<T>& h, const HeadGradients<T>& g, Workspace& workspace);

}  // namespace heed
