#include "step/gradients.h"

#include <cstring>

#include "base/profile.h"
#include "step/slices.h"

namespace heed {

Gradients::Result& Gradients::Result::operator+=(const Result& other) {
  loss += other.loss;
  requests |= other.requests;
  return *this;
}

Gradients::Gradients(const Transformer& model, int shards, const Crew& crew, const Slices& slices,
                     Products<float>& products)
    : model_(&model),
      crew_(crew),
      products_(products),
      sums_(model.table, shards, crew, slices),
      workers_(crew.pool().threads()),
      results_(shards) {}

Gradients::Result Gradients::run(const ParamVec<float>& values, const StepBatch& batch,
                                 double smoothing, const std::function<void()>& meanwhile) {
  const int shards = sums_.shards();
  const LossOptions options{smoothing, batch.labels > 0 ? 1.0 / batch.labels : 0.0};
  products_.weights_changed(values.data(), values.size(), crew_.pool());
  crew_.pool().run(shards + (meanwhile ? 1 : 0), [&](int task, int worker_index) {
    if (task == shards) return meanwhile();
    const Timed timed(Work::other_layers);
    const int shard = sums_.first() + task;
    ParamVec<float>& gradient = sums_.of_shard(shard);
    Worker& worker = workers_[worker_index];
    Pass<float> pass{.values = values,
                     .workspace = worker.workspace,
                     .gradients = &gradient,
                     .products = &products_};
    LossSums sums;
    for (int i = 0; i < batch.used[shard]; ++i)
      sums += train_micro_batch(*model_, pass, batch.shards[shard][i], options, worker.saved);
    results_[shard] = {sums, batch.requests};
    for (const ParamInfo& info : model_->table.infos())
      if (info.init.frozen)
        std::memset(gradient.data() + info.param.offset, 0, info.param.size() * sizeof(float));
  });
  crew_.gather(results_);
  return tree_sum(results_);
}

}  // namespace heed
