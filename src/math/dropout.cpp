#include "math/dropout.h"

#include "math/lanes.h"

namespace heed {

template <class T>
void drop_in_place(Mat<T> x, const Dropout& dropout) {
  if (!dropout.on()) return;
  for_rows<T>(x.rows, dropout, [&](int r, auto mask) {
    T* __restrict p = x.row(r);
    for (int c = 0; c < x.cols; ++c) p[c] *= mask(c);
  });
}

template <class T>
void drop_add(Mat<T> y, In<T> x, const Dropout& dropout) {
  for_rows<T>(y.rows, dropout, [&](int r, auto mask) {
    T* __restrict p = y.row(r);
    const T* __restrict q = x.row(r);
    for (int c = 0; c < y.cols; ++c) p[c] = fuse(mask(c), p[c], q[c]);
  });
}

template <class T>
void drop_add_backward(In<T> dy, Mat<T> dbranch, const Dropout& dropout) {
  for_rows<T>(dy.rows, dropout, [&](int r, auto mask) {
    const T* __restrict d = dy.row(r);
    T* __restrict p = dbranch.row(r);
    for (int c = 0; c < dy.cols; ++c) p[c] = mask(c) * d[c];
  });
}

#define HEED_INSTANTIATE(T)                                     \
  template void drop_in_place(Mat<T>, const Dropout&);          \
  template void drop_add(Mat<T>, Mat<const T>, const Dropout&); \
  template void drop_add_backward(Mat<const T>, Mat<T>, const Dropout&);
HEED_INSTANTIATE(float)
HEED_INSTANTIATE(double)
#undef HEED_INSTANTIATE

}  // namespace heed
