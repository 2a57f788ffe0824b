// Passes over the rows of a matrix: everything in a transformer that is not a matrix product.
// Each is one sweep that the compiler vectorises. Forward functions overwrite their output,
// backward functions add to it, unless they say "in place". T is float or double.
#pragma once

#include <cstdint>

#include "math/mat.h"

namespace heed {

// Inverted dropout for one site: element (r, c) survives with probability 1 - rate, scaled by
// 1 / (1 - rate); decided by noise32(combine(row_keys[r], site), c), so backward redraws it.
struct Dropout {
  double rate = 0.0;                        // 0: off
  const std::uint64_t* row_keys = nullptr;  // [rows]
  std::uint64_t site = 0;
  bool on() const { return rate > 0.0 && row_keys != nullptr; }
};

template <class T>
void set_zero(Mat<T> x);
template <class T>
void copy_rows(Mat<const T> from, Mat<T> to);
// Every row of y becomes the vector b [1, cols].
template <class T>
void fill_rows(Mat<const T> b, Mat<T> y);
// sums [1, cols] += the column sums of x.
template <class T>
void add_column_sums(Mat<const T> x, Mat<T> sums);

// x = dropout(x), in place; its backward is itself.
template <class T>
void drop_in_place(Mat<T> x, const Dropout& dropout);
// y = x + dropout(y), in place on y.
template <class T>
void drop_add(Mat<T> y, Mat<const T> x, const Dropout& dropout);
// dbranch = dropout(dy); bias_sums += column sums of dbranch.
template <class T>
void drop_add_backward(Mat<const T> dy, Mat<T> dbranch, Mat<T> bias_sums, const Dropout& dropout);

// h = dropout(f(u)) with f one of relu, gelu (exact), silu.
enum class Activation { relu, gelu, silu };
template <class T>
void activate(Activation f, Mat<const T> u, Mat<T> h, const Dropout& dropout);
// The same h once more, for backward, together with its slope: in place, u becomes dh/du.
template <class T>
void activate_with_slope(Activation f, Mat<T> u, Mat<T> h, const Dropout& dropout);
// In place: d holds the gradient of h and becomes that of u, d * slope; bias_sums += its column
// sums.
template <class T>
void activate_backward(Mat<const T> slope, Mat<T> d, Mat<T> bias_sums);

// LayerNorm, biased variance, eps 1e-5: y = (x - mean) / sqrt(var + eps) * gain + bias.
// stats [rows, 2] keeps mean and 1 / sqrt(var + eps) of each row. y may be x.
template <class T>
void layer_norm(Mat<const T> x, Mat<const T> gain, Mat<const T> bias, Mat<T> y, Mat<T> stats);
// dx += the gradient through the norm; dgain, dbias += theirs.
template <class T>
void layer_norm_backward(Mat<const T> x, Mat<const T> gain, Mat<const T> stats, Mat<const T> dy,
                         Mat<T> dx, Mat<T> dgain, Mat<T> dbias);

// The largest of x[0..n), n >= 1.
template <class T>
T largest(const T* x, int n);

// In place: the first `visible` numbers of the row become their softmax, the rest 0.
template <class T>
void softmax(T* row, int visible, int cols);

// One row of logits under the smoothed cross-entropy (eps/K over all K):
//   loss = (1 - eps) (lse - l_y) + eps (lse - mean l),   lse = log sum exp l
struct RowLoss {
  double smoothed, plain;  // nats; plain is -log p(label)
  bool correct;            // the label is the first of the largest logits
};
template <class T>
RowLoss cross_entropy(const T* logits, int classes, int label, double smoothing);
// The same; in place the logits become scale * (softmax - (1 - eps) [label] - eps / K).
template <class T>
RowLoss cross_entropy_backward(T* logits, int classes, int label, double smoothing, T scale);

// Cosines and sines by position, from `first` on: a decoding step needs those of one position, not
// of all before it.
template <class T>
struct Angles {
  Mat<const T> table;
  int first = 0;
  const T* of(int position) const { return table.row(position - first); }
};

// Rotary positions: turns the pairs (x_2i, x_2i+1) of every head of row r by the angle whose
// cosine and sine stand at 2i and 2i + 1 of angles.of(position[r]), [d_head] numbers.
// `direction` is +1 forward, -1 backward. In place on the first n_heads * d_head columns of x.
template <class T>
void rotate(Mat<T> x, int n_heads, const Angles<T>& angles, const int* position, T direction);

}  // namespace heed
