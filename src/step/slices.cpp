#include "step/slices.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/profile.h"
#include "math/lanes.h"
#include "nn/param.h"
#include "step/optimizers.h"

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

int shards_held(int shards, const Crew& crew) {
  return crew.alone() ? shards : shards / crew.ranks() + 2;
}

SlicedSum::SlicedSum(const ParamTable& table, int shards, const Crew& crew, const Slices& slices)
    : crew_(crew),
      slices_(slices),
      parts_(equal_parts(shards, crew.ranks())),
      first_(static_cast<int>(parts_[crew.exchange().rank()])),
      received_(shards),
      blocks_(weight_blocks(table)),
      squares_(blocks_.size()) {
  if (slices_.blocks.empty()) slices_ = {{0, blocks_.size()}, {0, table.size()}};
  const int rank = crew.exchange().rank();
  for (std::size_t i = parts_[rank]; i < parts_[rank + 1]; ++i) shards_.emplace_back(table.size());
  // A rank can add two subtrees if it has all shards of both.
  std::vector<bool> is_root(shards, true);
  for_tree_pairs(shards, [&](int to, int from) {
    const int last = std::min(2 * from - to, shards) - 1;
    const bool together = rank_of(to) == rank_of(last);
    if (together) is_root[from] = false;
    if (!together || rank_of(to) == rank) pairs_[together ? 0 : 1].emplace_back(to, from);
  });
  for (int i = 0; i < shards; ++i)
    if (is_root[i]) roots_.push_back(i);
  const std::size_t size = slices_.numbers[rank + 1] - slices_.numbers[rank];
  for (const int root : roots_)
    if (rank_of(root) != rank) received_[root].resize(size);
}

int SlicedSum::rank_of(int shard) const {
  const auto next = std::ranges::upper_bound(parts_, static_cast<std::size_t>(shard));
  return static_cast<int>(next - parts_.begin()) - 1;
}

double SlicedSum::reduce() {
  const bool alone = crew_.alone();
  crew_.pool().run(static_cast<int>(blocks_.size()), [&](int task, int) {
    const Timed timed(Work::gradient_sum);
    const auto [begin, end, tensor] = blocks_[task];
    for (const auto& [to, from] : pairs_[0]) add(to, from, begin, end);
    if (alone) squares_[task] = sum_squares(sum().data() + begin, end - begin);
  });
  if (!alone) exchange_partial_sums();
  return std::sqrt(tree_sum(squares_));
}

std::uint64_t SlicedSum::sent_bytes() const {
  const std::size_t others = crew_.ranks() - 1, weights = slices_.numbers.back();
  std::size_t numbers = others * weights;
  for (const int root : roots_) {
    const int rank = rank_of(root);
    numbers += weights - (slices_.numbers[rank + 1] - slices_.numbers[rank]);
  }
  return numbers * sizeof(float) + others * blocks_.size() * sizeof(double);
}

// x[to] += x[from], and clears x[from]. Of other ranks' shards only numbers of this slice are here.
void SlicedSum::add(int to, int from, std::size_t begin, std::size_t end) {
  const auto numbers = [&](int shard) {
    return received_[shard].empty()
               ? shards_[shard - first_].data() + begin
               : received_[shard].data() + begin - slices_.numbers[crew_.exchange().rank()];
  };
  float* __restrict sum = numbers(to);
  float* __restrict part = numbers(from);
  for (std::size_t i = 0; i < end - begin; ++i) {
    sum[i] += part[i];
    part[i] = 0.0f;
  }
}

void SlicedSum::exchange_partial_sums() {
  Exchange& exchange = crew_.exchange();
  const int rank = exchange.rank();
  const Parts& numbers = slices_.numbers;
  std::vector<Exchange::Message> sends, receives;
  for (int r = 0; r < exchange.ranks(); ++r)
    for (const int root : roots_) {
      if (r == rank) continue;
      if (rank_of(root) == rank)
        sends.push_back({r, shards_[root - first_].data() + numbers[r],
                         (numbers[r + 1] - numbers[r]) * sizeof(float)});
      if (rank_of(root) == r)
        receives.push_back({r, received_[root].data(), received_[root].size() * sizeof(float)});
    }
  exchange.swap(sends, receives);
  crew_.pool().run(static_cast<int>(blocks_.size()), [&](int task, int) {
    const Timed timed(Work::gradient_sum);
    const auto [begin, end, tensor] = blocks_[task];
    const auto block = static_cast<std::size_t>(task);
    if (block < slices_.blocks[rank] || block >= slices_.blocks[rank + 1]) {
      for (const int root : roots_)
        if (rank_of(root) == rank)
          std::memset(shards_[root - first_].data() + begin, 0, (end - begin) * sizeof(float));
      return;
    }
    for (const auto& [to, from] : pairs_[1]) add(to, from, begin, end);
    if (first_ > 0)
      std::memcpy(sum().data() + begin, received_[0].data() + begin - numbers[rank],
                  (end - begin) * sizeof(float));
    squares_[task] = sum_squares(sum().data() + begin, end - begin);
  });
  exchange.gather(squares_, slices_.blocks);
}

}  // namespace heed
