// Optimizer steps on batches that somebody else makes. Owns all the numbers of a training: values,
// moments, averaged weights, gradients. Allocates nothing once the largest step has been seen.
//
//   g = gradient(step, batch)     the loss, its gradient in sum(), the norm
//   update(g)                     clipping, the optimizer, the averaged weights
//
// Between the two, the gradient and the weights that it belongs to can be looked at. Of several
// ranks (step/exchange.h) each has the weights, but only its slice of the other arrays, until they
// are gathered; all ranks must ask for that.
#pragma once

#include <optional>

#include "base/std_names.h"
#include "step/gradients.h"
#include "step/optimizers.h"

namespace heed {

struct StepOptions {
  OptimizerConfig optimizer;
  int shards = 1;  // of every batch
  double label_smoothing = 0;
  double ema_decay = 0;  // of the averaged weights; 0: there are none
  uint64_t seed = 1;
};

// How many arrays of the model's size a checkpoint keeps: values, moments, averaged values.
int kept_arrays(const ParamTable& table, const StepOptions& options);

struct StepResult {
  int64_t step = 0;  // from 1
  LossSums sums;
  double gradient_norm = 0, rate = 0;
  int64_t tokens = 0;  // source + target
  bool finite = true;  // false: it must not be used for an update
  int requests = 0;    // of all (StepBatch::requests)

  // Nats per token; NaN if there was none to predict.
  double loss() const { return sums.nll / sums.tokens; }
};

// Those that are trained, and those that validation, samples and exported models use: the averaged
// ones, if there are any, else the same.
struct Weights {
  ParamVec<float>& trained;
  ParamVec<float>& used;
  bool differ() const { return &trained != &used; }
};

// What the optimizer does in a step whose gradient has this norm.
Update update_of(const StepOptions& options, int d_model, int64_t step, double gradient_norm);

class Stepper {
 public:
  // Model, products and the crew's members must outlive the stepper. Values start from the seed.
  Stepper(const Transformer& model, const StepOptions& options, const Crew& crew,
          Products<float>& products = blas_products<float>());

  StepResult gradient(int64_t step, const StepBatch& batch, const function<void()>& meanwhile = {});
  void update(const StepResult& result);

  // The first rank's numbers become those of all.
  void share();
  void gather_gradient() {  // the first rank gets the whole sum()
    crew_.exchange().move(gradients_.sum().data(), slices_.numbers, Exchange::To::first);
    gathered_gradient_ = !crew_.alone() && crew_.exchange().rank() == 0;
  }
  void gather_used_weights(Exchange::To to) {  // all get them, or the first rank does
    if (averaged_) crew_.exchange().move(averaged_->data(), slices_.numbers, to);
  }
  void gather_for_save();  // the first rank gets them and the moments

  const ParamTable& table() const { return model_.table; }
  ParamVec<float>& values() { return values_; }
  Weights weights() { return {values_, averaged_ ? *averaged_ : values_}; }
  void start_from(const ParamVec<float>& values) {
    for (ParamVec<float>* all : {&values_, &weights().used})
      std::copy_n(values.data(), values.size(), all->data());
  }
  Gradients<>& gradients() { return gradients_; }
  Optimizer<float>& optimizer() { return optimizer_; }

 private:
  const Transformer& model_;
  StepOptions options_;
  Crew crew_;
  Slices slices_;
  Gradients<> gradients_;
  Optimizer<float> optimizer_;
  ParamVec<float> values_;
  optional<ParamVec<float>> averaged_;
  bool gathered_gradient_ = false;  // sum() has more than this rank's slice
  bool spread_ = false;             // no rank has all that a save needs
};

}  // namespace heed
