// The keys and values of earlier tokens during decoding, written in place. Room for
// `capacity` tokens per slot is allocated once. The number of tokens in a slot is not stored here:
// it is the position of the first new row of the sequence.
#pragma once

#include <memory>
#include <vector>

#include "base/std_names.h"
#include "math/mat.h"

namespace heed {

template <class T>
class Cache {
 public:
  // `width`: size of all keys of a token (kv_width).
  Cache(int layers, int width, int slots, int capacity);

  int capacity() const { return capacity_; }
  // [capacity, 2 width]: keys, then values, of self-attention.
  Mat<T> self(int layer, int slot);
  // [memory rows, 2 width]: keys, then values, of cross-attention. Empty until resize_cross().
  Mat<T> cross(int layer);
  void resize_cross(int rows);
  // Copies the first `tokens` rows of every layer from one slot to another.
  void copy(int from, int to, int tokens);

 private:
  int layers_, width_, slots_, capacity_;
  int cross_rows_ = 0;
  // From calloc: pages take memory only once they are written to, and most sequences end long
  // before the capacity.
  unique_ptr<T[], Free> self_;
  vector<T> cross_;
};

// The part of a cache that a pass uses.
template <class T>
struct CacheSlots {
  Cache<T>* cache = nullptr;
  vector<int> slot_of;    // the slot of sequence i of the pass
  vector<int> source_of;  // the sequence of the memory that it reads
};

}  // namespace heed
