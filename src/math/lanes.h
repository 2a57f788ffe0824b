// Vectors of kVectorBytes, for kernels that the compiler does not vectorise well. Sums keep the
// order in which they are written, so no result depends on the alignment of the data.
#pragma once

#ifdef __AVX__
#include <immintrin.h>
#endif

#include <cstring>

namespace heed {

constexpr int kVectorBytes = 32;

template <class T>
struct VectorOf {
  typedef T type __attribute__((vector_size(kVectorBytes)));
};
template <class T>
using Vector = typename VectorOf<T>::type;

template <class T>
constexpr int kLanes = kVectorBytes / sizeof(T);

template <class T>
Vector<T> load(const T* p) {
  Vector<T> v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

// The first n lanes; the others are 0.
template <class T>
Vector<T> load_tail(const T* p, int n) {
  Vector<T> v{};
  std::memcpy(&v, p, sizeof(T) * n);
  return v;
}

template <class T>
void store(Vector<T> v, T* p) {
  std::memcpy(p, &v, sizeof v);
}

template <class T>
void store_tail(Vector<T> v, T* p, int n) {  // the first n lanes
  const auto* from = reinterpret_cast<const T*>(&v);
  for (int size = kLanes<T> / 2; size > 0; size /= 2) {
    if ((n & size) == 0) continue;
    std::memcpy(p, from, size * sizeof(T));
    p += size;
    from += size;
  }
}

// a * b + c in every lane, like fuse() in vec.h.
template <class T>
Vector<T> fuse_lanes(Vector<T> a, Vector<T> b, Vector<T> c) {
#ifdef __FMA__
  if constexpr (sizeof(T) == 4)
    return _mm256_fmadd_ps(a, b, c);
  else
    return _mm256_fmadd_pd(a, b, c);
#else
  return a * b + c;
#endif
}

// Keeps a value in its register. Without this, GCC reads it from memory at each use (measured in
// batch_invariant_linear: 16 loads for 12 products, and 1.8 times the time).
template <class T>
void pin_register([[maybe_unused]] Vector<T>& v) {
#ifdef __AVX__
  asm("" : "+x"(v));
#endif
}

}  // namespace heed
