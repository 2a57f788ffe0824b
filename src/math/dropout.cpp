#include "math/dropout.h"

#include "math/lanes.h"

namespace heed {

template <class T>
void drop(In<T> x, Mat<T> y, const Dropout& dropout) {
  for_rows<T>(x.rows, dropout, [&](int r, auto mask) {
    const T* __restrict p = x.row(r);
    T* __restrict q = y.row(r);
    for (int c = 0; c < x.cols; ++c) q[c] = mask(c) * p[c];
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

#define HEED_INSTANTIATE(T)                                 \
  template void drop(Mat<const T>, Mat<T>, const Dropout&); \
  template void drop_add(Mat<T>, Mat<const T>, const Dropout&);
HEED_FLOAT_AND_DOUBLE(HEED_INSTANTIATE)
#undef HEED_INSTANTIATE

}  // namespace heed
