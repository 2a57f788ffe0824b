// A bump arena for activations. Memory is taken with matrix() and given back all at once by
// rewinding to an earlier mark; matrices handed out since that mark are dead. It grows to the
// largest use seen and then never allocates again. One per thread; not thread-safe. Contents start
// undefined.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "math/mat.h"

namespace heed {

class Workspace {
 public:
  struct Mark {
    std::size_t block, used;
  };

  // An uninitialised [rows, cols] matrix, 64-byte aligned.
  template <class T>
  Mat<T> matrix(int rows, int cols) {
    return {static_cast<T*>(take(sizeof(T) * static_cast<std::size_t>(rows) * cols)), rows, cols};
  }
  // The same for a row of more than an int counts.
  template <class T>
  T* numbers(std::size_t n) {
    return static_cast<T*>(take(sizeof(T) * n));
  }
  // Like matrix(), filled with zeros.
  template <class T>
  Mat<T> zeros(int rows, int cols);

  Mark mark() const { return {block_, used_}; }
  void rewind(Mark mark);
  void rewind() { rewind({0, 0}); }
  std::size_t bytes() const;  // held from the system

 private:
  struct Free {
    void operator()(void* p) const;
  };
  struct Block {
    std::unique_ptr<void, Free> data;
    std::size_t size;
  };
  void* take(std::size_t bytes);
  static Block allocate(std::size_t bytes);

  std::vector<Block> blocks_;
  std::size_t block_ = 0;  // current block
  std::size_t used_ = 0;   // bytes taken from it
};

// Rewinds on leaving the scope.
class WorkspaceScope {
 public:
  explicit WorkspaceScope(Workspace& w) : workspace_(w), mark_(w.mark()) {}
  ~WorkspaceScope() { workspace_.rewind(mark_); }
  WorkspaceScope(const WorkspaceScope&) = delete;
  WorkspaceScope& operator=(const WorkspaceScope&) = delete;

 private:
  Workspace& workspace_;
  Workspace::Mark mark_;
};

}  // namespace heed
