// The weights in blocks of at most 32,768 numbers, in the order of memory. Every tensor begins a
// new block.
//
// All that runs over the weights in a step runs over this one list: the sum of the shards'
// gradients, the norm for clipping (a tree over the blocks), the optimizer, the averaged weights.
// A block is done by one thread from end to end. So a slice of the weights is a run of whole
// blocks, and its numbers do not depend on who computes the other slices.
#pragma once

#include <algorithm>
#include <vector>

#include "nn/param.h"

namespace heed {

constexpr std::size_t kWeightBlock = std::size_t{1} << 15;

struct WeightBlock {
  std::size_t begin, end;  // in a ParamVec
  const ParamInfo* tensor;
};

// The table must outlive the list.
inline std::vector<WeightBlock> weight_blocks(const ParamTable& table) {
  std::vector<WeightBlock> blocks;
  for (const ParamInfo& info : table.infos()) {
    const std::size_t end = info.param.offset + info.param.size();
    for (std::size_t begin = info.param.offset; begin < end; begin += kWeightBlock)
      blocks.push_back({begin, std::min(end, begin + kWeightBlock), &info});
  }
  return blocks;
}

}  // namespace heed
