// Muon's update of one matrix: the matrix nearest to orthogonal, found without a singular value
// decomposition. X = U S Vᵀ becomes about U Vᵀ: all directions are moved equally far.
//
//   X <- X / ||X||_F,  then five times  X <- a X + (b A + c A²) X,  A = X Xᵀ
//   (a, b, c) = (3.4445, -4.7750, 2.0315)
//
// The quintic takes singular values of (0, 1] to about [0.7, 1.2]; these coefficients rise fastest
// from 0. (Jordan et al. 2024, "Muon: An optimizer for hidden layers in neural networks".)
#pragma once

#include "math/mat.h"
#include "math/workspace.h"

namespace heed {

// Overwrites x [rows, cols]; a matrix whose norm is below 1e-30 becomes zero. Takes 2 s (s + l)
// numbers of the workspace, s and l being the shorter and the longer side, and rewinds it.
template <class T>
void orthogonalize(Mat<T> x, Workspace& workspace);

}  // namespace heed
