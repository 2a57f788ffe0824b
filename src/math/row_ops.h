// Simple operations on the rows of a matrix: zero, copy, repeat, multiply, sum, and
// rotate by position. T is float or double.
#pragma once

#include <cstring>

#include "base/std_names.h"
#include "math/mat.h"

namespace heed {

template <class T>
void set_zero(Mat<T> x) {
  for (int r = 0; r < x.rows; ++r) std::memset(x.row(r), 0, sizeof(T) * x.cols);
}
// Row `i` of `from` into row `j` of `to`.
template <class T>
void copy_row(In<T> from, int i, Mat<T> to, int j) {
  assert(from.cols == to.cols);
  memcpy(to.row(j), from.row(i), sizeof(T) * from.cols);
}
template <class T>
void copy_rows(In<T> from, Mat<T> to) {
  assert(from.rows == to.rows);
  for (int r = 0; r < from.rows; ++r) copy_row<T>(from, r, to, r);
}
// Copies the vector b [1, cols] to every row of y.
template <class T>
void fill_rows(In<T> b, Mat<T> y) {
  for (int r = 0; r < y.rows; ++r) copy_row<T>(b, 0, y, r);
}
// x *= factors, element by element.
template <class T>
void multiply_by(In<T> factors, Mat<T> x);
// sums [1, cols] += the column sums of x.
template <class T>
void add_column_sums(In<T> x, Mat<T> sums);

// Rotary positions (Su et al. 2021, "RoFormer"): cosines and sines of the positions from `first`
// on: a decoding step needs only one position.
template <class T>
struct Angles {
  Mat<const T> table;
  int first = 0;
  const T* of(int position) const { return table.row(position - first); }
};

// Rotates the pairs (x_2i, x_2i+1) of every head of row r by the angle whose cosine and sine are
// the elements 2i and 2i + 1 of angles.of(position[r]), [d_head]. `direction` is +1 forward, -1
// backward. In place on the first n_heads * d_head columns of x.
template <class T>
void rotate(Mat<T> x, int n_heads, const Angles<T>& angles, const int* position, T direction);

}  // namespace heed
