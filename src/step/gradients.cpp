#include "step/gradients.h"

#include <cmath>
#include <cstring>

#include "base/profile.h"
#include "math/lanes.h"
#include "step/tree_sum.h"

namespace heed {

Gradients::Gradients(const Transformer& model, int shards, Pool& pool)
    : model_(&model),
      pool_(&pool),
      workers_(pool.threads()),
      losses_(shards),
      blocks_(weight_blocks(model.table)),
      squares_(blocks_.size()) {
  for (int i = 0; i < shards; ++i) shards_.emplace_back(model.table.size());
}

LossSums Gradients::run(const ParamVec<float>& values, const StepBatch& batch, double smoothing,
                        const std::function<void()>& meanwhile) {
  const int shards = static_cast<int>(shards_.size());
  const LossOptions options{smoothing, batch.labels > 0 ? 1.0 / batch.labels : 0.0};
  products_.weights_changed(values.data(), values.size());
  pool_->run(shards + (meanwhile ? 1 : 0), [&](int task, int worker_index) {
    if (task == shards) return meanwhile();
    const Timed timed(Work::other_layers);
    Worker& worker = workers_[worker_index];
    Pass<float> pass{.values = values,
                     .workspace = worker.workspace,
                     .gradients = &shards_[task],
                     .products = &products_};
    LossSums sums;
    for (int i = 0; i < batch.used[task]; ++i)
      sums += train_micro_batch(*model_, pass, batch.shards[task][i], options, worker.saved);
    losses_[task] = sums;
    for (const ParamInfo& info : model_->table.infos())
      if (info.init.frozen)
        std::memset(shards_[task].data() + info.param.offset, 0, info.param.size() * sizeof(float));
  });
  return tree_sum(losses_);
}

double Gradients::reduce() {
  pool_->run(static_cast<int>(blocks_.size()), [&](int task, int) {
    const Timed timed(Work::gradient_sum);
    const auto [begin, end, tensor] = blocks_[task];
    for_tree_pairs(static_cast<int>(shards_.size()), [&](int to, int from) {
      float* __restrict sum = shards_[to].data();
      float* __restrict part = shards_[from].data();
      for (std::size_t i = begin; i < end; ++i) {
        sum[i] += part[i];
        part[i] = 0.0f;
      }
    });
    squares_[task] = sum_squares(shards_.front().data() + begin, end - begin);
  });
  return std::sqrt(tree_sum(squares_));
}

}  // namespace heed
