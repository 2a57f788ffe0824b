#include "nn/cache.h"
#include "base/std_names.h"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace heed {

template <class T>
Cache<T>::Cache(int layers, int width, int slots, int capacity)
    : layers_(layers),
      width_(width),
      slots_(slots),
      capacity_(capacity),
      self_(
          static_cast<T*>(std::calloc(size_t{2} * layers * slots * capacity * width, sizeof(T)))) {
  if (!self_) throw std::bad_alloc();
}

template <class T>
Mat<T> Cache<T>::self(int layer, int slot) {
  assert(layer < layers_ && slot < slots_);
  const size_t index = size_t(layer) * slots_ + slot;
  return {self_.get() + index * capacity_ * 2 * width_, capacity_, 2 * width_};
}

template <class T>
Mat<T> Cache<T>::cross(int layer) {
  return {cross_.data() + size_t(layer) * cross_rows_ * 2 * width_, cross_rows_, 2 * width_};
}

template <class T>
void Cache<T>::resize_cross(int rows) {
  cross_rows_ = rows;
  cross_.resize(size_t{2} * layers_ * rows * width_);
}

template <class T>
void Cache<T>::copy(int from, int to, int tokens) {
  for (int layer = 0; layer < layers_; ++layer) {
    const Mat<T> a = self(layer, from), b = self(layer, to);
    std::copy(a.data, a.row(tokens), b.data);
  }
}

template class Cache<float>;
template class Cache<double>;

}  // namespace heed
