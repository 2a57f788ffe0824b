#include "math/rotary.h"

#include "math/lanes.h"

namespace heed {

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

#define HEED_INSTANTIATE(T) template void rotate(Mat<T>, int, const Angles<T>&, const int*, T);
HEED_INSTANTIATE(float)
HEED_INSTANTIATE(double)
#undef HEED_INSTANTIATE

}  // namespace heed
