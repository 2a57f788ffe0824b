// What a layer needs for one forward or backward pass: parameters, gradients, workspace, products.
// A Pass belongs to one thread; many passes share one model and its values.
#pragma once

#include "math/mat.h"
#include "math/products.h"
#include "math/workspace.h"
#include "nn/packed.h"
#include "nn/param.h"

namespace heed {

// What a pass shows of itself, without knowing who looks: its heads, their gradients, and what
// feed-forward networks and layers add to the rows. A pass has one observer or none
// (Pass::observer); without one nothing is computed for it.
//
// In forward an observer may change what it sees before the next layer reads it. That is how a part
// of a model is taken away, and how a score is moved to check a gradient. Decoding with a cache is
// not observed.
enum class AttentionKind;
template <class T>
class Observer {
 public:
  virtual ~Observer() = default;

  struct Head {
    AttentionKind kind;
    int layer, head, sequence;
    Mat<const T> weights;  // [queries, keys] P, before dropout
    Mat<const T> values;   // [keys, d_head] V
  };
  // Forward; output [queries, d_head] is O = drop(P) V.
  virtual void on_head(const Head&, Mat<T> /*output*/) {}
  // Backward: the gradient of O.
  virtual void on_head_gradient(const Head&, Mat<const T> /*gradient*/) {}
  // y [rows, d_model] is what the feed-forward network of this layer gives. `stack` is the kind of
  // its self-attention.
  virtual void on_feed_forward(AttentionKind /*stack*/, int /*layer*/, Mat<T> /*y*/) {}
  // A layer has read x and gives y.
  virtual void on_layer(AttentionKind /*stack*/, int /*layer*/, Mat<const T> /*x*/, Mat<T> /*y*/) {}
};

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
