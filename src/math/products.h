// The door for products. Whatever multiplies matrices in training, scoring and decoding does it
// through the Products that it was lent. An arithmetic is one class behind this door:
//
//   Products      training and scoring: OpenBLAS, and packed operands for the heads of attention
//   RowProducts   decoding: the result of a row depends neither on other rows nor on the threads
//   bfloat16      training and scoring with rounded operands (math/bfloat16.cpp)
//
// make_products() makes those of a precision: for a training in train/prepared_run.cpp, for
// commands where they open their models. A pass uses what it is lent (Pass::products), else
// blas_products(); IncrementalDecoder owns its RowProducts. Products keep the time of the layers'
// products (base/profile.h); muon's are part of its optimizer's.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/pool.h"
#include "base/profile.h"
#include "base/std_names.h"
#include "math/attention_head.h"
#include "math/batch_invariant.h"
#include "math/blas.h"
#include "math/row_ops.h"

namespace heed {

enum class Precision { float32, bfloat16 };  // train.precision

template <class T>
class Products {
 public:
  virtual ~Products() = default;

  // Once a step, when the weights have new values: for copies of them, packed or rounded.
  virtual void weights_changed(const T* /*values*/, size_t /*size*/, Pool& /*pool*/) {}

  // y = x Wᵀ + b;  x [rows, in], W [out, in], b [1, out] or empty, y [rows, out]
  virtual void forward(In<T> x, In<T> w, In<T> b, Mat<T> y) const {
    const Timed timed(Work::linear_forward);
    if (!b.empty()) fill_rows(b, y);
    heed::gemm<T>(1, as_is(x), transposed(w), b.empty() ? 0 : 1, y);
  }
  // dW += dyᵀ x;  dx += dy W, unless dx is empty
  virtual void backward(In<T> dy, In<T> x, In<T> w, Mat<T> dw, Mat<T> dx) const {
    const Timed timed(Work::linear_backward);
    heed::gemm<T>(1, transposed(dy), as_is(x), 1, dw);
    if (!dx.empty()) heed::gemm<T>(1, as_is(dy), as_is(w), 1, dx);
  }

  // All heads of all sequences (math/attention_head.h).
  virtual void attend(span<const AttentionHead<T>> heads, Workspace& workspace) const {
    const Timed timed(Work::attention);
    for (const AttentionHead<T>& head : heads) head_forward(head, workspace);
  }
  virtual void attend_backward(span<const AttentionHead<T>> heads,
                               span<const HeadGradients<T>> gradients, Workspace& workspace) const {
    const Timed timed(Work::attention);
    for (size_t i = 0; i < heads.size(); ++i) head_backward(heads[i], gradients[i], workspace);
  }
  // Decoding: one sequence over its cache (math/batch_invariant.h).
  virtual void attend_cached(const CachedHeads<T>& heads) const {
    batch_invariant_attention(heads);
  }

  // Those of muon: C = alpha op(A) op(B) + beta C;  C = alpha op(A) op(A)ᵀ + beta C, symmetric
  virtual void gemm(T alpha, Operand<T> a, Operand<T> b, T beta, Mat<T> c) const {
    heed::gemm(alpha, a, b, beta, c);
  }
  virtual void syrk(T alpha, Operand<T> a, T beta, Mat<T> c) const {
    heed::syrk(alpha, a, beta, c);
  }

  // What multiplies, where it is not OpenBLAS as it is: "oneDNN 2.6.3"; and why, after a colon.
  virtual string info() const { return ""; }
  // The threads that share a pass. Null: the calling thread alone.
  virtual Pool* pool() const { return nullptr; }
};

template <class T>
class RowProducts final : public Products<T> {
 public:
  explicit RowProducts(Pool* pool) : pool_(pool) {}
  void forward(In<T> x, In<T> w, In<T> b, Mat<T> y) const override {
    batch_invariant_linear(x, w, b, y, pool_);
  }
  Pool* pool() const override { return pool_; }

 private:
  Pool* pool_;
};

// Of the whole process: it keeps nothing.
template <class T>
Products<T>& blas_products() {
  static Products<T> products;
  return products;
}

unique_ptr<Products<float>> bfloat16_products(bool use_module = true);  // of math/onednn.h

inline unique_ptr<Products<float>> make_products(Precision precision) {
  if (precision == Precision::bfloat16) return bfloat16_products();
  return make_unique<Products<float>>();
}

}  // namespace heed
