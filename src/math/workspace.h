// A bump allocator for activations; what layers save for backward (their ...Saved) is here. A
// training's peak is measured before it starts (pass_memory() in train/prepared_run.cpp). matrix()
// takes memory; rewinding to an earlier mark frees all memory taken since, and matrices in it
// become invalid. It grows to the peak use and then never allocates again. One per thread; not
// thread-safe. Memory is uninitialised. std::length_error beyond the `most` bytes that it may take
// from the system.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

#include "base/std_names.h"
#include "math/mat.h"

namespace heed {

class Workspace {
 public:
  struct Mark {
    size_t block, used;
  };

  explicit Workspace(size_t most = ~size_t{0}) : most_(most) {}

  // An uninitialised [rows, cols] matrix, 64-byte aligned.
  template <class T>
  Mat<T> matrix(int rows, int cols) {
    return {static_cast<T*>(take(sizeof(T) * size_t(rows) * cols)), rows, cols};
  }
  // n uninitialised numbers, or views; n may be larger than an int.
  template <class T>
  T* numbers(size_t n) {
    return static_cast<T*>(take(sizeof(T) * n));
  }
  // Like matrix(), filled with zeros.
  template <class T>
  Mat<T> zeros(int rows, int cols) {
    const Mat<T> m = matrix<T>(rows, cols);
    std::memset(m.data, 0, sizeof(T) * size_t(rows) * cols);
    return m;
  }

  Mark mark() const { return {block_, used_}; }
  void rewind(Mark mark) {
    block_ = mark.block;
    used_ = mark.used;
  }
  void rewind() { rewind({0, 0}); }
  size_t bytes() const {  // allocated from the system
    size_t sum = 0;
    for (const Block& b : blocks_) sum += b.size;
    return sum;
  }

 private:
  struct Block {
    unique_ptr<void, void (*)(void*)> data;
    size_t size;
  };
  void* take(size_t bytes);

  size_t most_;
  vector<Block> blocks_;
  size_t block_ = 0;  // current block
  size_t used_ = 0;   // bytes taken from it
};

// Rewinds on leaving the scope.
class WorkspaceScope {
 public:
  explicit WorkspaceScope(Workspace& w) : workspace_(w), mark_(w.mark()) {}
  ~WorkspaceScope() { workspace_.rewind(mark_); }
  WorkspaceScope& operator=(WorkspaceScope&&) = delete;  // nor copied

 private:
  Workspace& workspace_;
  Workspace::Mark mark_;
};

}  // namespace heed
