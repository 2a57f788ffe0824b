// Matrix products for one attention head. cblas_sgemm packs both operands on every call,
// which costs more than such a small product; here only the right operand is packed, once for all
// its uses. (Time relative to cblas_sgemm at d_head 32: a third for 15 queries and keys, two thirds
// for 64, the same from 128 on, where causal heads can skip masked keys in finer steps.)
#pragma once

#include "base/std_names.h"
#include "math/blas.h"
#include "math/workspace.h"

namespace heed {

// B [rows, cols] in panels of a few columns, each panel row by row; the last one is padded with
// zeros. The memory belongs to a workspace.
template <class T>
struct PackedOperand {
  const T* data;
  int rows, cols;
  int panel_rows;  // rows of a panel in memory: those of the B that was packed

  PackedOperand row_range(int begin, int end) const;
  PackedOperand col_range(int end) const;  // [0, end), which may include the padding
};

template <class T>
PackedOperand<T> pack(Operand<T> b, Workspace& workspace);

// C = alpha * op(A) B + beta * C. An element of C is summed over the columns of op(A) in order.
template <class T>
void gemm(type_identity_t<T> alpha, Operand<T> a, PackedOperand<T> b, type_identity_t<T> beta,
          Mat<T> c);

}  // namespace heed
