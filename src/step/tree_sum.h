// The order in which the parts of a step are summed: a fixed binary tree.
//
//   for d = 1, 2, 4, ...:  x[s] += x[s + d]   where s mod 2d = 0 and s + d < n
//
// Any aligned group of 2^k parts is a subtree, so it can be summed elsewhere, on another machine,
// with the same bits. (A running sum would have to visit all parts in one place.)
#pragma once

#include <vector>

namespace heed {

// Calls add(s, s + d) for every pair, in that order.
template <class Add>
void for_tree_pairs(int n, Add&& add) {
  for (int d = 1; d < n; d *= 2)
    for (int s = 0; s + d < n; s += 2 * d) add(s, s + d);
}

// The sum of x, which must not be empty and is overwritten.
template <class T>
T tree_sum(std::vector<T>& x) {
  for_tree_pairs(static_cast<int>(x.size()), [&](int to, int from) { x[to] += x[from]; });
  return x.front();
}

}  // namespace heed
