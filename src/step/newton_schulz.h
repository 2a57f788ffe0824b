// Muon's update of one matrix: the matrix nearest to orthogonal, found without a singular value
// decomposition. X = U S Vᵀ becomes about U Vᵀ: all directions are moved equally far.
//
//   X <- X / ||X||_F,  then five times  X <- P X,  P = a I + b A + c A²,  A = X Xᵀ
//   (a, b, c) = (3.4445, -4.7750, 2.0315)
//
// All these are polynomials in the first A, so they commute. Where the longer side l is more than
// twice the shorter side s, the five steps are done on A alone, Q <- P Q, A <- P A P, and at the
// end X <- Q X: 3 l s² + 29 s³ operations instead of 15 l s² + 5 s³. In float that is right to
// about 1e-3: rounding errors of A, 6e-8, grow by up to a² = 12 each of the four times that A
// changes. (More steps, or bfloat16, would need X again in between.)
//
// The quintic takes singular values of [0.0015, 1] to about [0.7, 1.2], and smaller ones to some
// 480 times themselves; these coefficients rise fastest from 0. (Jordan et al. 2024, "Muon: An
// optimizer for hidden layers in neural networks".)
#pragma once

#include "math/products.h"
#include "math/workspace.h"

namespace heed {

// Overwrites x [rows, cols]; numbers below 1e-12 of its norm, or of 1e-18 if the norm is smaller,
// count as zero. Takes at most 2 s (s + l) numbers of the workspace, s and l being the shorter and
// the longer side, and rewinds it.
template <class T>
void orthogonalize(Mat<T> x, const Products<T>& products, Workspace& workspace);

}  // namespace heed
