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

void* Workspace::take(size_t bytes) {
  bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  size_t least = kFirstBlock;
  if (block_ == 0 && used_ == 0 && blocks_.size() > 1) {
    // Empty but fragmented: replace the blocks by one block of the total size.
    least = this->bytes();
    blocks_.clear();
  }
  while (block_ < blocks_.size() && used_ + bytes > blocks_[block_].size) {
    ++block_;
    used_ = 0;
  }
  if (block_ == blocks_.size()) {
    const size_t size = max({bytes, least, this->bytes() / 4 / kAlignment * kAlignment});
    if (this->bytes() + size > most_) throw std::length_error("a workspace");
    void* block = std::aligned_alloc(kAlignment, size);
    if (block == nullptr) throw bad_alloc();
    blocks_.push_back({{block, std::free}, size});
  }
  void* p = static_cast<char*>(blocks_[block_].data.get()) + used_;
  used_ += bytes;
  return p;
}

}  // namespace heed
