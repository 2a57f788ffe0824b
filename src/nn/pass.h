// What a layer needs for one forward or backward pass: parameters, gradients, workspace, products.
// A Pass belongs to one thread; many passes share one model and its values.
#pragma once

#include "math/products.h"
#include "math/workspace.h"
#include "nn/observer.h"
#include "nn/packed.h"
#include "nn/param.h"

namespace heed {

template <class T>
struct Pass {
  const ParamVec<T>& values;
  Workspace& workspace;
  ParamVec<T>* gradients = nullptr;  // needed by backward
  bool forward_only = false;         // no backward will follow: all blocks reuse the same memory
  const Products<T>* products = &blas_products<T>();
  Observer<T>* observer = nullptr;  // sees heads, feed-forward networks and layers, if set

  Mat<const T> operator[](Param p) const { return values[p]; }
  Mat<T> gradient(Param p) const { return (*gradients)[p]; }
  // A [rows, cols] matrix from the workspace, uninitialised or zero.
  Mat<T> matrix(int rows, int cols) const { return workspace.template matrix<T>(rows, cols); }
  Mat<T> zeros(int rows, int cols) const { return workspace.template zeros<T>(rows, cols); }
};

}  // namespace heed
