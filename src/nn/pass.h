// What a layer is lent for one forward or backward pass: the numbers, room to work, and the mode.
// A Pass belongs to one thread; many passes share one model and one set of values.
#pragma once

#include "base/pool.h"
#include "base/profile.h"
#include "math/workspace.h"
#include "nn/packed.h"
#include "nn/param.h"

namespace heed {

template <class T>
class AttentionObserver;

template <class T>
struct Pass {
  const ParamVec<T>& values;
  Workspace& workspace;
  ParamVec<T>* gradients = nullptr;  // needed by backward
  bool forward_only = false;         // no backward will follow: each block works in the same room
  // Decoding: products and attention go row by row (math/batch_invariant.h), so that a row's result
  // does not depend on the others; `pool` may share the work of one product.
  bool batch_invariant = false;
  Pool* pool = nullptr;
  Profile* profile = nullptr;
  AttentionObserver<T>* observer = nullptr;  // shown every attention weight, if given

  Mat<const T> operator[](Param p) const { return values[p]; }
  Mat<T> gradient(Param p) const { return (*gradients)[p]; }
  // Room from the workspace: [rows, cols] of undefined contents, or of zeros.
  Mat<T> matrix(int rows, int cols) const { return workspace.template matrix<T>(rows, cols); }
  Mat<T> zeros(int rows, int cols) const { return workspace.template zeros<T>(rows, cols); }
};

}  // namespace heed
