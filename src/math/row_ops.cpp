#include "math/row_ops.h"
#include "base/std_names.h"

#include "math/lanes.h"

namespace heed {

template <class T>
void multiply_by(In<T> factors, Mat<T> x) {
  for (int r = 0; r < x.rows; ++r) {
    const T* __restrict p = factors.row(r);
    T* __restrict q = x.row(r);
    for (int c = 0; c < x.cols; ++c) q[c] *= p[c];
  }
}

template <class T>
void add_column_sums(In<T> x, Mat<T> sums) {
  T* __restrict s = sums.data;
  int r = 0;
  for (; r + 4 <= x.rows; r += 4) {
    const T *a = x.row(r), *b = x.row(r + 1), *c = x.row(r + 2), *d = x.row(r + 3);
    for (int j = 0; j < x.cols; ++j) s[j] += (a[j] + b[j]) + (c[j] + d[j]);
  }
  for (; r < x.rows; ++r) {
    const T* a = x.row(r);
    for (int j = 0; j < x.cols; ++j) s[j] += a[j];
  }
}

template <class T>
void rotate(Mat<T> x, int n_heads, const Angles<T>& angles, const int* position, T direction) {
  const int d_head = angles.table.cols;
  for (int r = 0; r < x.rows; ++r) {
    const T* __restrict t = angles.of(position[r]);
    for (int h = 0; h < n_heads; ++h) {
      T* __restrict p = x.row(r) + h * d_head;
      for (int c = 0; c < d_head; c += 2) {
        const T a = p[c], b = p[c + 1], cosine = t[c], sine = direction * t[c + 1];
        p[c] = fuse(a, cosine, -(b * sine));
        p[c + 1] = fuse(a, sine, b * cosine);
      }
    }
  }
}

#define HEED_INSTANTIATE(T)                            \
  template void multiply_by(Mat<const T>, Mat<T>);     \
  template void add_column_sums(Mat<const T>, Mat<T>); \
  template void rotate(Mat<T>, int, const Angles<T>&, const int*, T);
HEED_FLOAT_AND_DOUBLE(HEED_INSTANTIATE)
#undef HEED_INSTANTIATE

}  // namespace heed
