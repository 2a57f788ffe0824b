// The door for products. Whatever multiplies rows by weights, or attends, does it through the
// Products that its pass was lent. An arithmetic is one class behind this door:
//
//   Products      training and scoring: OpenBLAS, and packed operands for the heads of attention
//   RowProducts   decoding: the result of a row depends neither on other rows nor on the threads
//
// step/gradients owns the one that training uses, IncrementalDecoder that of decoding; other passes
// use blas_products().
#pragma once

#include <cstddef>

#include "base/pool.h"
#include "math/attention_head.h"
#include "math/mat.h"

namespace heed {

template <class T>
class Products {
 public:
  virtual ~Products() = default;

  // Once a step, when the weights have new values: for copies of them, packed or rounded.
  virtual void weights_changed(const T* /*values*/, std::size_t /*size*/) {}

  // y = x Wᵀ + b;  x [rows, in], W [out, in], b [1, out] or empty, y [rows, out]
  virtual void forward(In<T> x, In<T> w, In<T> b, Mat<T> y) const;
  // dx += dy W
  virtual void input_gradient(In<T> dy, In<T> w, Mat<T> dx) const;
  // dW += dyᵀ x
  virtual void weight_gradient(In<T> dy, In<T> x, Mat<T> dw) const;

  // One head of one sequence (math/attention_head.h).
  virtual void attend(const AttentionHead<T>& head, Mat<T> o, Workspace& workspace) const;
  virtual void attend_backward(const AttentionHead<T>& head, In<T> d_o, const HeadGradients<T>& to,
                               Workspace& workspace) const;

  // The threads that share a pass. Null: the calling thread alone.
  virtual Pool* pool() const { return nullptr; }
};

template <class T>
class RowProducts final : public Products<T> {
 public:
  explicit RowProducts(Pool* pool) : pool_(pool) {}
  void forward(In<T> x, In<T> w, In<T> b, Mat<T> y) const override;
  Pool* pool() const override { return pool_; }

 private:
  Pool* pool_;
};

// For passes that are lent no other.
template <class T>
const Products<T>& blas_products();

}  // namespace heed
