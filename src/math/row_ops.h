// Simple operations on the rows of a matrix: zero, copy, repeat, multiply, sum. T is float or
// double.
#pragma once

#include "math/mat.h"

namespace heed {

template <class T>
void set_zero(Mat<T> x);
template <class T>
void copy_rows(In<T> from, Mat<T> to);
// Row `i` of `from` into row `j` of `to`.
template <class T>
void copy_row(In<T> from, int i, Mat<T> to, int j);
// Copies the vector b [1, cols] to every row of y.
template <class T>
void fill_rows(In<T> b, Mat<T> y);
// x *= factors, element by element.
template <class T>
void multiply_by(In<T> factors, Mat<T> x);
// sums [1, cols] += the column sums of x.
template <class T>
void add_column_sums(In<T> x, Mat<T> sums);

}  // namespace heed
