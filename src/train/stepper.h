// Optimizer steps: batch, gradients, clipping, update. Owns all the numbers of a training (values,
// moments, averaged weights, gradients); allocates nothing once the largest step has been seen. The
// next batch is assembled while this one is computed.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>

#include "data/batcher.h"
#include "store/safetensors.h"
#include "store/state.h"
#include "train/gradients.h"
#include "train/optimizer.h"

namespace heed {

struct StepResult {
  LossSums sums;
  double gradient_norm = 0, rate = 0;
  std::int64_t tokens = 0;  // source + target
  bool finite = true;       // false: nothing was updated

  // Nats per token.
  double loss() const { return sums.nll / std::max<double>(1, static_cast<double>(sums.tokens)); }
};

// "Epoch 2.5": 2 epochs are done and half of the next one's examples.
double epochs_at(const Objective& objective, const Split& split, const Cursor& cursor);

class Stepper {
 public:
  // References must outlive the stepper. Values start from the seed.
  Stepper(const RunConfig& config, const Transformer& model, const Objective& objective,
          const Split& split, Pool& pool);

  // Does the step after `state.step`, from its cursor; advances step, cursor and tokens_seen.
  // `before_update`, if given, is called once the gradient is summed (and finite), before the
  // values change; `after` is the cursor after the step.
  using BeforeUpdate = std::function<void(const Cursor& after)>;
  StepResult step(State& state, const BeforeUpdate& before_update = {});

  ParamVec<float>& values() { return values_; }
  // What validation, samples and exported models use: the averaged weights, if there are any.
  const ParamVec<float>& best_values() const { return averaged_ ? *averaged_ : values_; }
  void copy_values_to_average();
  Gradients& gradients() { return gradients_; }
  const StepBatch& last_batch() const { return batches_[1 - current_]; }

  // model.safetensors and training.safetensors of a checkpoint, to write and to fill.
  std::vector<TensorSlot> model_slots();
  std::vector<TensorSlot> training_slots();

 private:
  const RunConfig& config_;
  const Transformer& model_;
  Pool& pool_;
  Batcher batcher_;
  Gradients gradients_;
  Optimizer<float> optimizer_;
  ParamVec<float> values_;
  std::optional<ParamVec<float>> averaged_;
  StepBatch batches_[2];
  int current_ = 0;
  bool filled_ = false;
};

// The tensors of training.safetensors, to fill: the optimizer's, and `raw`, the weights themselves
// if the model is their average (else null).
std::vector<TensorSlot> training_slots(const ParamTable& table, Optimizer<float>& optimizer,
                                       ParamVec<float>* raw);

}  // namespace heed
