// The matrix product of decoding: y = x Wᵀ + b for one or many rows. The result of a row depends
// neither on the other rows nor on the threads.
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
#include "math/mat.h"

namespace heed {

// y [rows, out] = x [rows, in] W[out, in]ᵀ + b [1, out] (b may be empty). The threads of `pool`
// share the columns of y if the product is large enough; pool may be null.
template <class T>
void batch_invariant_linear(In<T> x, In<T> w, In<T> b, Mat<T> y, Pool* pool);

// One query q [heads, d_head] against m keys and values [m, kv heads x d_head], head by head:
// weights [heads, m] = softmax(scale k qᵀ), out [heads x d_head] = weights v. Neighbouring heads
// share a key/value head if there are fewer of those. `uniform`: every weight is 1/m.
template <class T>
void batch_invariant_attention(In<T> q, In<T> k, In<T> v, T scale, bool uniform, Mat<T> weights,
                               T* out);

}  // namespace heed
