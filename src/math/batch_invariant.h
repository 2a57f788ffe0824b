// The products of decoding: y = x Wᵀ + b for one or many rows, and attention over a key/value
// cache. The result of a row depends neither on the other rows nor on the threads.
//
// Every dot product has one vector accumulator that runs over the columns in order, whatever the
// blocking. So a sentence decodes to the same bits alone and in any batch. One row runs at the
// speed of reading W from memory; many rows read each piece of W from cache.
//
// math/packed_gemm.h needs a packed W. If W is packed at each call, one row takes 2.7 to 2.9 times
// as long, four rows 1.2 to 1.9 times (128 -> 512 and 384 -> 1536, one core of a Zen 3). If W is
// packed once, the product is faster from two rows on, but decoding would hold every weight twice.
#pragma once

#include "base/pool.h"
#include "math/attention_head.h"

namespace heed {

// y [rows, out] = x [rows, in] W[out, in]ᵀ + b [1, out] (b may be empty). The threads of `pool`
// share the columns of y if the product is large enough; pool may be null.
template <class T>
void batch_invariant_linear(In<T> x, In<T> w, In<T> b, Mat<T> y, Pool* pool);

// All heads of one sequence: n queries over m cached keys. Neighbouring heads share a key/value
// head if there are fewer of those. The matrices belong to the pass.
template <class T>
struct CachedHeads {
  int heads;
  Mat<const T> q;     // [n, heads x d_head]
  Mat<const T> k, v;  // [m, kv heads x d_head]
  Mat<T> o;           // [n, heads x d_head]
  T* weights;         // room for [heads, m]
  T scale;
  bool causal, uniform;
};

// Query by query and head by head:  w = softmax(scale K q),  o = Vᵀ w. Uniform: every weight is 1
// over the keys that the query sees. Leaves the weights of the last query.
template <class T>
void batch_invariant_attention(const CachedHeads<T>& h);

}  // namespace heed
