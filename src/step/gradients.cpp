#include "step/gradients.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/profile.h"
#include "math/lanes.h"
#include "step/tree_sum.h"

namespace heed {

int shards_held(int shards, const Crew& crew) {
  return crew.alone() ? shards : shards / crew.ranks() + 2;
}

Gradients::Result& Gradients::Result::operator+=(const Result& other) {
  loss += other.loss;
  requests |= other.requests;
  return *this;
}

Gradients::Gradients(const Transformer& model, int shards, const Crew& crew, const Slices& slices)
    : model_(&model),
      crew_(crew),
      slices_(slices),
      parts_(equal_parts(shards, crew.ranks())),
      first_(static_cast<int>(parts_[crew.exchange().rank()])),
      workers_(crew.pool().threads()),
      results_(shards),
      received_(shards),
      blocks_(weight_blocks(model.table)),
      squares_(blocks_.size()) {
  if (slices_.blocks.empty()) slices_ = {{0, blocks_.size()}, {0, model.table.size()}};
  const int rank = crew.exchange().rank();
  for (std::size_t i = parts_[rank]; i < parts_[rank + 1]; ++i)
    shards_.emplace_back(model.table.size());
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

int Gradients::rank_of(int shard) const {
  const auto next = std::ranges::upper_bound(parts_, static_cast<std::size_t>(shard));
  return static_cast<int>(next - parts_.begin()) - 1;
}

Gradients::Result Gradients::run(const ParamVec<float>& values, const StepBatch& batch,
                                 double smoothing, const std::function<void()>& meanwhile) {
  const int shards = static_cast<int>(shards_.size());
  const LossOptions options{smoothing, batch.labels > 0 ? 1.0 / batch.labels : 0.0};
  products_.weights_changed(values.data(), values.size());
  crew_.pool().run(shards + (meanwhile ? 1 : 0), [&](int task, int worker_index) {
    if (task == shards) return meanwhile();
    const Timed timed(Work::other_layers);
    const int shard = first_ + task;
    Worker& worker = workers_[worker_index];
    Pass<float> pass{.values = values,
                     .workspace = worker.workspace,
                     .gradients = &shards_[task],
                     .products = &products_};
    LossSums sums;
    for (int i = 0; i < batch.used[shard]; ++i)
      sums += train_micro_batch(*model_, pass, batch.shards[shard][i], options, worker.saved);
    results_[shard] = {sums, batch.requests};
    for (const ParamInfo& info : model_->table.infos())
      if (info.init.frozen)
        std::memset(shards_[task].data() + info.param.offset, 0, info.param.size() * sizeof(float));
  });
  crew_.gather(results_);
  return tree_sum(results_);
}

double Gradients::reduce() {
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

std::uint64_t Gradients::step_bytes() const {
  const std::size_t others = crew_.ranks() - 1, weights = slices_.numbers.back();
  std::size_t numbers = others * weights;
  for (const int root : roots_) {
    const int rank = rank_of(root);
    numbers += weights - (slices_.numbers[rank + 1] - slices_.numbers[rank]);
  }
  return numbers * sizeof(float) +
         others * (results_.size() * sizeof(Result) + blocks_.size() * sizeof(double));
}

// x[to] += x[from], and clears x[from]. Of other ranks' shards only numbers of this slice are here.
void Gradients::add(int to, int from, std::size_t begin, std::size_t end) {
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

void Gradients::exchange_partial_sums() {
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
