// Vectors, and sums in a fixed order. In builds for CPUs with fused multiply-add, results depend
// neither on -march and -mtune nor on the alignment of the data: the order of every sum is set
// here, and `fuse` says what is rounded once.
//
// A sum over a row runs over 16 lanes of float or 8 of double: number c belongs to lane c mod 16,
// and total() adds the lanes. HalfLanes<T> has half as many, and Vector<T> what fits into a
// register (of AVX or NEON), both for hand-blocked kernels.
#pragma once

#ifdef __AVX__
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "base/std_names.h"

namespace heed {

#ifdef __aarch64__
constexpr int kVectorBytes = 16;
#else
constexpr int kVectorBytes = 32;
#endif
template <class T>
struct VectorOf {
  typedef T type __attribute__((vector_size(kVectorBytes)));
};
template <class T>
using Vector = typename VectorOf<T>::type;
template <class T>
constexpr int kVectorSize = kVectorBytes / sizeof(T);

// a * b + c for numbers or vectors, rounded once if the CPU can. Every kernel calls it where a
// product meets a sum; otherwise the compiler fuses one version of a loop and not another.
// (-ffp-contract=off does not help: g++ 12 still turns a rotation into vfmaddsub.)
template <class V>
inline V fuse(V a, V b, V c) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  if constexpr (std::is_floating_point_v<V>) return std::fma(a, b, c);
#endif
#ifdef __FMA__
  if constexpr (is_same_v<V, Vector<float>>) return V(_mm256_fmadd_ps(a, b, c));
  if constexpr (is_same_v<V, Vector<double>>) return V(_mm256_fmadd_pd(a, b, c));
#endif
#ifdef __aarch64__
  if constexpr (is_same_v<V, Vector<float>>) return V(vfmaq_f32(c, a, b));
  if constexpr (is_same_v<V, Vector<double>>) return V(vfmaq_f64(c, a, b));
#endif
  return a * b + c;
}

template <class T, class V = Vector<T>>
V load(const T* p) {
  V v;
  memcpy(&v, p, sizeof v);
  return v;
}

// The first n numbers; the others are 0.
template <class T, class V = Vector<T>>
V load_tail(const T* p, int n) {
  V v{};
  memcpy(&v, p, sizeof(T) * n);
  return v;
}

template <class T>
void store(Vector<T> v, T* p) {
  memcpy(p, &v, sizeof v);
}

// The first n numbers of a vector or of lanes.
template <class T, class V>
void store_tail(const V& v, T* p, int n) {
  const auto* from = reinterpret_cast<const T*>(&v);
#pragma GCC unroll 4
  for (int size = sizeof v / sizeof(T) / 2; size > 0; size /= 2) {
    if ((n & size) == 0) continue;
    memcpy(p, from, size * sizeof(T));
    p += size;
    from += size;
  }
}

// Keeps a value in its register. Without this, GCC reads it from memory at each use (measured in
// batch_invariant_linear: 16 loads for 12 products, and 1.8 times the time).
template <class V>
void pin_register([[maybe_unused]] V& v) {
#ifdef __AVX__
  asm("" : "+x"(v));
#endif
}

// Adds one half to the other until one number is left: for floats ((0+4)+(2+6)) + ((1+5)+(3+7)).
template <class T>
T total(Vector<T> v) {
#ifdef __AVX__
  if constexpr (sizeof(T) == 4) {
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
  }
#endif
  for (int half = kVectorSize<T> / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) v[i] += v[i + half];
  return v[0];
}

// Numbers of kBytes bytes in several vectors.
template <class T, int kBytes>
struct LanesOf {
  static constexpr int kParts = kBytes / kVectorBytes;
  using Part = Vector<T>;
  static constexpr int kSize = kBytes / sizeof(T), kPartSize = kVectorSize<T>;
  Part part[kParts];

  static LanesOf all(T x) {
    LanesOf v;
    for (Part& p : v.part) p = x - Part{};  // a broadcast: x - 0 is x, while 0 + x may not be
    return v;
  }
  // f(part of a, part of b, ..) for each part.
  template <class F, class... More>
  static LanesOf each(F&& f, const LanesOf& a, const More&... more) {
    LanesOf v;
#pragma GCC unroll 4
    for (int i = 0; i < kParts; ++i) v.part[i] = f(a.part[i], more.part[i]...);
    return v;
  }
  friend LanesOf operator+(const LanesOf& a, const LanesOf& b) {
    return each([](Part x, Part y) { return Part(x + y); }, a, b);
  }
  friend LanesOf operator-(const LanesOf& a, const LanesOf& b) {
    return each([](Part x, Part y) { return Part(x - y); }, a, b);
  }
  friend LanesOf operator*(const LanesOf& a, const LanesOf& b) {
    return each([](Part x, Part y) { return Part(x * y); }, a, b);
  }
  friend LanesOf fuse(const LanesOf& a, const LanesOf& b, const LanesOf& c) {
    return each([](Part x, Part y, Part z) { return fuse(x, y, z); }, a, b, c);
  }
};

template <class T>
using Lanes = LanesOf<T, 64>;
#ifdef __aarch64__
template <class T>
using HalfLanes = LanesOf<T, 32>;
#else
template <class T>
using HalfLanes = Vector<T>;
#endif

template <class T, int kBytes>
T total(const LanesOf<T, kBytes>& v) {
  if constexpr (LanesOf<T, kBytes>::kParts == 4)
    return total<T>((v.part[0] + v.part[2]) + (v.part[1] + v.part[3]));
  else
    return total<T>(v.part[0] + v.part[1]);
}

// A place in a row: kSize numbers from column `begin` on, or the last n < kSize.
template <class T, bool kWhole>
struct LanesAt {
  int begin, n;

  // Lanes beyond the end are `pad`.
  Lanes<T> load(const T* row, T pad = 0) const {
    using L = Lanes<T>;
    const T* p = row + begin;
    L v = L::all(pad);
    if constexpr (kWhole) {
#pragma GCC unroll 4
      for (int i = 0; i < L::kParts; ++i)  // one by one: they stay in registers
        memcpy(&v.part[i], p + i * L::kPartSize, sizeof v.part[i]);
    } else {
#ifdef __AVX2__
      using Index = std::conditional_t<sizeof(T) == 4, int, long long>;
      Vector<Index> lane;
      for (int i = 0; i < L::kPartSize; ++i) lane[i] = i;
#pragma GCC unroll 4
      for (int i = 0; i < L::kParts; ++i) {
        const auto mask = __m256i(lane < Index{n - i * L::kPartSize});
        const T* from = p + i * L::kPartSize;
        if constexpr (sizeof(T) == 4)
          v.part[i] = _mm256_blendv_ps(v.part[i], _mm256_maskload_ps(from, mask), __m256(mask));
        else
          v.part[i] = _mm256_blendv_pd(v.part[i], _mm256_maskload_pd(from, mask), __m256d(mask));
      }
#else
      memcpy(v.part, p, n * sizeof(T));
#endif
    }
    return v;
  }
  void store(const Lanes<T>& v, T* row) const {
    T* p = row + begin;
    if constexpr (kWhole) {
#pragma GCC unroll 4
      for (int i = 0; i < Lanes<T>::kParts; ++i)
        memcpy(p + i * Lanes<T>::kPartSize, &v.part[i], sizeof v.part[i]);
    } else {
      store_tail(v, p, n);
    }
  }
};

// Calls body(place) for the columns [begin, end) of a row, in order.
template <class T, class Body>
inline __attribute__((always_inline)) void for_lanes(int begin, int end, Body&& body) {
  for (; begin + Lanes<T>::kSize <= end; begin += Lanes<T>::kSize)
    body(LanesAt<T, true>{begin, Lanes<T>::kSize});
  if (begin < end) body(LanesAt<T, false>{begin, end - begin});
}

template <class T>
T sum_row(const T* x, int n) {
  Lanes<T> sum{};
  for_lanes<T>(0, n, [&](auto at) { sum = sum + at.load(x); });
  return total(sum);
}

// Runs of 1024 numbers are summed in T, the runs in double.
template <class T>
double sum_squares(const T* x, size_t n) {
  constexpr size_t kRun = 1024;
  double sum = 0;
  for (size_t i = 0; i < n; i += kRun) {
    Lanes<T> run{};
    for_lanes<T>(0, min(kRun, n - i), [&](auto at) {
      const Lanes<T> v = at.load(x + i);
      run = fuse(v, v, run);
    });
    sum += total(run);
  }
  return sum;
}

}  // namespace heed
