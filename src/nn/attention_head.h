// The heart: one head of one sequence, forward and backward, on windows of the packed rows.
#pragma once

#include "math/dropout.h"
#include "math/mat.h"
#include "math/workspace.h"

namespace heed {

// Columns of P in memory: whole vectors, so that no numbers are left over in its rows.
constexpr int padded_keys(int m) {
  return (m + 7) / 8 * 8;
}

// n queries, m keys. The windows belong to the pass.
template <class T>
struct AttentionHead {
  Mat<const T> q;  // [n, d_head]
  Mat<const T> k;  // [m, d_head]
  Mat<const T> v;  // [m, d_head]
  Mat<T> p;        // [n, padded_keys(m)] softmax weights, before dropout; 0 beyond m
  T scale;
  bool causal, uniform;
  Dropout dropout;

  int visible(int query) const { return causal ? k.rows - q.rows + query + 1 : k.rows; }
};

// P = softmax(scale Q Kᵀ);  O = drop(P) V. Overwrites h.p and o [n, d_head].
template <class T>
void head_forward(const AttentionHead<T>& h, Mat<T> o, Workspace& workspace);

// Given dO [n, d_head] and P, adds to dq [n, d_head], dk and dv [m, d_head].
template <class T>
void head_backward(const AttentionHead<T>& h, Mat<const T> d_o, Mat<T> dq, Mat<T> dk, Mat<T> dv,
                   Workspace& workspace);

}  // namespace heed
