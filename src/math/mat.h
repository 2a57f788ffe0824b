// Mat is a view of a row-major matrix owned by something else: a Workspace, a ParamVec, a cache.
// Copying it copies the view, not the numbers. Element (r, c) is data[r * stride + c].
#pragma once

#include <cassert>
#include <cstddef>
#include <type_traits>

#include "base/std_names.h"

// What is compiled for both: training has float, the checks of gradients double.
#define HEED_FLOAT_AND_DOUBLE(INSTANTIATE) INSTANTIATE(float) INSTANTIATE(double)

namespace heed {

template <class T>
struct Mat {
  T* data = nullptr;
  int rows = 0;
  int cols = 0;
  int stride = 0;

  Mat() = default;
  Mat(T* d, int r, int c) : Mat(d, r, c, c) {}
  Mat(T* d, int r, int c, int s) : data(d), rows(r), cols(c), stride(s) {}
  // A read-only view of the same numbers.
  operator Mat<const T>() const requires(!std::is_const_v<T>) { return {data, rows, cols, stride}; }

  T* row(int r) const { return data + ptrdiff_t(r) * stride; }
  T& operator()(int r, int c) const { return row(r)[c]; }
  bool empty() const { return rows == 0 || cols == 0; }

  // Rows [begin, end), all columns.
  Mat row_range(int begin, int end) const {
    assert(0 <= begin && begin <= end && end <= rows);
    return {row(begin), end - begin, cols, stride};
  }
  // Columns [begin, end), all rows.
  Mat col_range(int begin, int end) const {
    assert(0 <= begin && begin <= end && end <= cols);
    return {data + begin, rows, end - begin, stride};
  }
  // The i-th part of `width` columns: q, k or v of a product, or one head.
  Mat part(int i, int width) const { return col_range(i * width, (i + 1) * width); }
};

// A matrix that a function only reads. It accepts a Mat<T>; T is deduced from the other arguments.
template <class T>
using In = type_identity_t<Mat<const T>>;

}  // namespace heed
