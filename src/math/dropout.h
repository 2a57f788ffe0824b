// Dropout (Srivastava et al. 2014) without stored masks, fused with the adjacent operation. Each
// function is one sweep that the compiler vectorises. T is float or double.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/noise.h"
#include "base/std_names.h"
#include "math/mat.h"

namespace heed {

// Inverted dropout of one layer: element (r, c) is kept with probability 1 - rate and scaled by
// 1 / (1 - rate). noise32(combine(row_keys[r], id), c) decides, so backward can draw it again.
struct Dropout {
  double rate = 0.0;                   // 0: off
  const uint64_t* row_keys = nullptr;  // [rows]
  uint64_t id = 0;                     // of the layer
  bool on() const { return rate > 0.0 && row_keys != nullptr; }
};

// y = dropout(x); it is its own backward.
template <class T>
void drop(In<T> x, Mat<T> y, const Dropout& dropout);
// y = x + dropout(y), in place on y.
template <class T>
void drop_add(Mat<T> y, In<T> x, const Dropout& dropout);

// Calls body(r, mask) for every row; mask(c) is the factor of column c: 0 or 1 / (1 - rate).
template <class T, class Body>
void for_rows(int rows, const Dropout& d, Body&& body) {
  if (!d.on()) {
    for (int r = 0; r < rows; ++r) body(r, [](int) { return T{1}; });
    return;
  }
  const auto threshold = uint32_t(min(d.rate * 0x1.0p32, 0x1.0p32 - 1));
  const T scale = T(1.0 / (1.0 - d.rate));
  for (int r = 0; r < rows; ++r)
    body(r, [=, key = combine(d.row_keys[r], d.id)](int c) {
      return noise32(key, uint32_t(c)) >= threshold ? scale : T{0};
    });
}

}  // namespace heed
