// Where the keys and values of earlier tokens live while a sequence is decoded. Written in place:
// room for `capacity` tokens per slot is taken once. How many tokens a slot holds is not stored
// here: it is the position of the first new row of its sequence.
#pragma once

#include <cstdlib>
#include <memory>
#include <vector>

#include "math/mat.h"

namespace heed {

template <class T>
class Cache {
 public:
  Cache(int layers, int d_model, int slots, int capacity);

  int capacity() const { return capacity_; }
  // [capacity, 2 d_model]: keys, then values, of self-attention.
  Mat<T> self(int layer, int slot);
  // [memory rows, 2 d_model] of cross-attention, computed once per source; empty before.
  Mat<T> cross(int layer);
  void resize_cross(int rows);
  // Copies the first `tokens` rows of every layer from one slot to another.
  void copy(int from, int to, int tokens);

 private:
  int layers_, d_model_, slots_, capacity_;
  int cross_rows_ = 0;
  // Zero pages of the system, which take memory when they are written to: most sequences end long
  // before the capacity that is asked for.
  struct Free {
    void operator()(T* p) const { std::free(p); }
  };
  std::unique_ptr<T[], Free> self_;
  std::vector<T> cross_;
};

// What a pass uses of a cache.
template <class T>
struct CacheSlots {
  Cache<T>* cache = nullptr;
  std::vector<int> slot_of;    // sequence i of the pass lives in this slot
  std::vector<int> source_of;  // and reads this sequence of the memory
};

}  // namespace heed
