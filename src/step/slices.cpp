#include "step/slices.h"

#include <algorithm>

#include "step/optimizers.h"
#include "step/weight_blocks.h"

namespace heed {
namespace {

// Where the parts of these lengths of work begin if none may have more than `limit`; more than
// `ranks` parts if that is too little.
Parts cut_at(const std::vector<double>& work, double limit) {
  Parts parts{0};
  double sum = 0;
  for (std::size_t i = 0; i < work.size(); ++i) {
    if (sum > 0 && sum + work[i] > limit) {
      parts.push_back(i);
      sum = 0;
    }
    sum += work[i];
  }
  return parts;
}

}  // namespace

Slices cut_slices(const ParamTable& table, const OptimizerConfig& config, int ranks) {
  // Pieces that are not cut: their first block, and their work as if in numbers moved.
  std::vector<std::size_t> pieces;
  std::vector<double> work;
  const std::vector<WeightBlock> blocks = weight_blocks(table);
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const ParamInfo& info = *blocks[b].tensor;
    const UpdateRule& rule = rule_of(config, info);
    if (rule.workspace && blocks[b].begin != info.param.offset) continue;  // moves whole matrices
    pieces.push_back(b);
    work.push_back(rule.products ? rule.products(info.param)
                                 : static_cast<double>(blocks[b].end - blocks[b].begin));
  }
  double low = *std::ranges::max_element(work), high = 0;  // the least limit is between them
  for (const double w : work) high += w;
  for (int i = 0; i < 60; ++i) {
    const double limit = (low + high) / 2;
    (cut_at(work, limit).size() <= static_cast<std::size_t>(ranks) ? high : low) = limit;
  }
  Slices slices;
  for (const std::size_t piece : cut_at(work, high)) slices.blocks.push_back(pieces[piece]);
  slices.blocks.resize(ranks + 1, blocks.size());  // more ranks than pieces: some have nothing
  for (const std::size_t b : slices.blocks)
    slices.numbers.push_back(b < blocks.size() ? blocks[b].begin : table.size());
  return slices;
}

}  // namespace heed
