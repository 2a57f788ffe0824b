// Rotary positions (Su et al. 2021, "RoFormer").
#pragma once

#include "math/mat.h"

namespace heed {

// Cosines and sines by position, from `first` on: a decoding step needs those of one position, not
// of all before it.
template <class T>
struct Angles {
  Mat<const T> table;
  int first = 0;
  const T* of(int position) const { return table.row(position - first); }
};

// Rotary positions: turns the pairs (x_2i, x_2i+1) of every head of row r by the angle whose
// cosine and sine stand at 2i and 2i + 1 of angles.of(position[r]), [d_head] numbers.
// `direction` is +1 forward, -1 backward. In place on the first n_heads * d_head columns of x.
template <class T>
void rotate(Mat<T> x, int n_heads, const Angles<T>& angles, const int* position, T direction);

}  // namespace heed
