// The plainest passes over the rows of a matrix: zero, copy, repeat, sum. T is float or double.
#pragma once

#include "math/mat.h"

namespace heed {

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

}  // namespace heed
