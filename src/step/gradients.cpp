#include "step/gradients.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/profile.h"
#include "base/std_names.h"
#include "math/lanes.h"
#include "step/optimizers.h"

namespace heed {

Slices cut_slices(const ParamTable& table, const OptimizerConfig& config, int ranks) {
  // Pieces that are not cut: their first block, and their work as if in numbers moved.
  vector<pair<size_t, double>> pieces;
  double all = 0, done = 0;
  const vector<WeightBlock> blocks = weight_blocks(table);
  for (size_t b = 0; b < blocks.size(); ++b) {
    const ParamInfo& info = *blocks[b].tensor;
    const UpdateRule& rule = rule_of(config, info);
    if (rule.workspace && blocks[b].begin != info.param.offset) continue;  // moves whole matrices
    pieces.emplace_back(
        b, rule.products ? rule.products(info.param) : double(blocks[b].end - blocks[b].begin));
    all += pieces.back().second;
  }
  Slices slices;
  for (const auto& [block, work] : pieces) {
    while (double(slices.blocks.size()) * all <= ranks * (done + work / 2))
      slices.blocks.push_back(block);
    done += work;
  }
  slices.blocks.resize(ranks + 1, blocks.size());  // more ranks than pieces: some have nothing
  for (const size_t b : slices.blocks)
    slices.numbers.push_back(b < blocks.size() ? blocks[b].begin : table.size());
  return slices;
}

template <class T>
Gradients<T>::Gradients(const Transformer& model, int shards, const Crew& crew,
                        const Slices& slices, Products<T>& products)
    : model_(&model),
      crew_(crew),
      products_(products),
      slices_(slices),
      rank_(crew.exchange().rank()),
      parts_(equal_parts(shards, crew.ranks())),
      shards_(shards),
      blocks_(weight_blocks(model.table)),
      squares_(blocks_.size()),
      workers_(crew.pool().threads()),
      results_(shards) {
  if (slices_.blocks.empty()) slices_ = {{0, blocks_.size()}, {0, model.table.size()}};
  // A rank can add two subtrees if it has all shards of both.
  vector<bool> is_root(shards, true);
  for_tree_pairs(shards, [&](int to, int from) {
    const int last = min(2 * from - to, shards) - 1;
    const bool together = rank_of(to) == rank_of(last);
    if (together) is_root[from] = false;
    if (!together || rank_of(to) == rank_) pairs_[together ? 0 : 1].emplace_back(to, from);
  });
  for (int i = 0; i < shards; ++i) {
    if (is_root[i]) roots_.push_back(i);
    if (is_root[i] || rank_of(i) == rank_) shards_[i] = ParamVec<T>(model.table.size());
  }
}

template <class T>
auto Gradients<T>::run(const ParamVec<T>& values, const StepBatch& batch, double smoothing,
                       const function<void()>& meanwhile, double* rows) -> Result {
  const int first = parts_[rank_], shards = parts_[rank_ + 1] - first;
  const LossOptions common{smoothing, batch.labels > 0 ? 1.0 / batch.labels : 0.0, rows};
  products_.weights_changed(values.data(), values.size(), crew_.pool());
  crew_.pool().run(shards + (meanwhile ? 1 : 0), [&](int task, int worker_index) {
    if (task == shards) return meanwhile();
    const Timed timed(Work::other_layers);
    const int shard = first + task;
    ParamVec<T>& gradient = shards_[shard];
    Worker& worker = workers_[worker_index];
    Pass<T> pass{.values = values,
                 .workspace = worker.workspace,
                 .gradients = &gradient,
                 .products = &products_};
    LossSums sums;
    LossOptions options = common;
    for (int s = 0; rows && s < shard; ++s)  // the rows of the shards before
      for (int i = 0; i < batch.used[s]; ++i) options.rows += batch.shards[s][i].labels.size();
    for (int i = 0; i < batch.used[shard]; ++i) {
      const Batch& part = batch.shards[shard][i];
      sums += train_micro_batch(*model_, pass, part, options, worker.saved);
      if (rows) options.rows += part.labels.size();
    }
    results_[shard] = {sums, batch.requests};
    for (const ParamInfo& info : model_->table.infos())
      if (info.init.frozen)
        std::memset(gradient.data() + info.param.offset, 0, info.param.size() * sizeof(T));
  });
  crew_.gather(results_);
  return tree_sum(results_);
}

template <class T>
double Gradients<T>::reduce() {
  const bool alone = crew_.alone();
  crew_.pool().run(blocks_.size(), [&](int task, int) {
    const Timed timed(Work::gradient_sum);
    const auto [begin, end, tensor] = blocks_[task];
    for (const auto& [to, from] : pairs_[0]) add(to, from, begin, end);
    if (alone) squares_[task] = sum_squares(sum().data() + begin, end - begin);
  });
  if (!alone) exchange_partial_sums();
  return sqrt(tree_sum(squares_));
}

template <class T>
uint64_t Gradients<T>::step_bytes() const {
  const size_t others = crew_.ranks() - 1, weights = slices_.numbers.back();
  size_t numbers = others * weights;
  for (const int root : roots_) {
    const int rank = rank_of(root);
    numbers += weights - (slices_.numbers[rank + 1] - slices_.numbers[rank]);
  }
  return numbers * sizeof(T) +
         others * (blocks_.size() * sizeof(double) + results_.size() * sizeof(Result));
}

// x[to] += x[from], and clears x[from].
template <class T>
void Gradients<T>::add(int to, int from, size_t begin, size_t end) {
  T* __restrict sum = shards_[to].data();
  T* __restrict part = shards_[from].data();
  for (size_t i = begin; i < end; ++i) {
    sum[i] += part[i];
    part[i] = 0;
  }
}

template <class T>
void Gradients<T>::exchange_partial_sums() {
  Exchange& exchange = crew_.exchange();
  const Parts& numbers = slices_.numbers;
  const auto slice = [&](int with, int root, int of) {
    return Exchange::Message{with, shards_[root].data() + numbers[of],
                             (numbers[of + 1] - numbers[of]) * sizeof(T)};
  };
  vector<Exchange::Message> sends, receives;
  for (int r = 0; r < exchange.ranks(); ++r)
    for (const int root : roots_) {
      if (r == rank_) continue;
      if (rank_of(root) == rank_) sends.push_back(slice(r, root, r));
      if (rank_of(root) == r) receives.push_back(slice(r, root, rank_));
    }
  exchange.swap(sends, receives);
  crew_.pool().run(blocks_.size(), [&](int task, int) {
    const Timed timed(Work::gradient_sum);
    const auto [begin, end, tensor] = blocks_[task];
    const size_t block = task;
    if (block < slices_.blocks[rank_] || block >= slices_.blocks[rank_ + 1]) {
      for (const int root : roots_)
        if (rank_of(root) == rank_)
          std::memset(shards_[root].data() + begin, 0, (end - begin) * sizeof(T));
      return;
    }
    for (const auto& [to, from] : pairs_[1]) add(to, from, begin, end);
    squares_[task] = sum_squares(sum().data() + begin, end - begin);
  });
  exchange.move(squares_.data(), slices_.blocks);
}

template class Gradients<float>;
template class Gradients<double>;

}  // namespace heed
