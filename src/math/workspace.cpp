#include "math/workspace.h"
#include "base/std_names.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <stdexcept>

namespace heed {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kFirstBlock = size_t{1} << 20;

}  // namespace

Workspace::Block Workspace::allocate(size_t bytes) const {
  if (this->bytes() + bytes > most_) throw std::length_error("a workspace");
  void* p = std::aligned_alloc(kAlignment, bytes);
  if (p == nullptr) throw bad_alloc();
  return {unique_ptr<void, Free>(p), bytes};
}

void* Workspace::take(size_t bytes) {
  bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  if (block_ == 0 && used_ == 0 && blocks_.size() > 1) {
    // Empty but fragmented: replace the blocks by one block of the total size.
    const size_t total = this->bytes();
    blocks_.clear();
    blocks_.push_back(allocate(total));
  }
  while (block_ < blocks_.size() && used_ + bytes > blocks_[block_].size) {
    ++block_;
    used_ = 0;
  }
  if (block_ == blocks_.size())
    blocks_.push_back(
        allocate(max({bytes, kFirstBlock, this->bytes() / 4 / kAlignment * kAlignment})));
  void* p = static_cast<char*>(blocks_[block_].data.get()) + used_;
  used_ += bytes;
  return p;
}

}  // namespace heed
