// Rotary positions (Su et al. 2021, "RoFormer").
#pragma once

#include "math/mat.h"

namespace heed {

// Cosines and sines of the positions from `first` on: a decoding step needs only one position.
template <class T>
struct Angles {
  Mat<const T> table;
  int first = 0;
  const T* of(int position) const { return table.row(position - first); }
};

// Rotates the pairs (x_2i, x_2i+1) of every head of row r by the angle whose cosine and sine are
// the elements 2i and 2i + 1 of angles.of(position[r]), [d_head]. `direction` is +1 forward, -1
// backward. In place on the first n_heads * d_head columns of x.
template <class T>
void rotate(Mat<T> x, int n_heads, const Angles<T>& angles, const int* position, T direction);

}  // namespace heed
