#include "step/stepper.h"

#include <cmath>

#include "step/schedule.h"

namespace heed {

int kept_arrays(const ParamTable& table, const StepOptions& options) {
  return 1 + moments_kept(table, options.optimizer) + (options.ema_decay > 0 ? 1 : 0);
}

Stepper::Stepper(const Transformer& model, const StepOptions& options, Pool& pool)
    : model_(model),
      options_(options),
      pool_(pool),
      gradients_(model, options.shards, pool),
      optimizer_(model.table, options.optimizer),
      values_(model.table.size()) {
  initialize(model.table, options.seed, values_);
  if (options.ema_decay == 0) return;
  averaged_.emplace(values_.size());
  std::copy(values_.data(), values_.data() + values_.size(), averaged_->data());
}

void Stepper::start_from(const ParamVec<float>& values) {
  for (ParamVec<float>* all : {&values_, &used_values()})
    std::copy(values.data(), values.data() + values.size(), all->data());
}

StepResult Stepper::gradient(std::int64_t step, const StepBatch& batch,
                             const std::function<void()>& meanwhile) {
  StepResult result;
  result.step = step;
  result.tokens = batch.tokens;
  result.sums = gradients_.run(values_, batch, options_.label_smoothing, meanwhile);
  result.gradient_norm = gradients_.reduce();
  result.rate = learning_rate(options_.optimizer, model_.config.d_model, step);
  // Its square is finite, too: second moments stay so.
  const double clip = options_.optimizer.clip_norm;
  const double used = clip > 0 ? std::min(clip, result.gradient_norm) : result.gradient_norm;
  result.finite = std::isfinite(result.sums.objective) && std::isfinite(result.gradient_norm) &&
                  std::isfinite(static_cast<float>(used * used));
  return result;
}

void Stepper::update(const StepResult& result) {
  const double t = static_cast<double>(result.step);
  const Update update{.step = result.step,
                      .rate = result.rate,
                      .clip = clip_factor(options_.optimizer.clip_norm, result.gradient_norm),
                      // An average of few values follows quickly.
                      .ema_decay = std::min(options_.ema_decay, t / (9.0 + t))};
  optimizer_.step(pool_, update, values_, gradients_.sum(), averaged_ ? &*averaged_ : nullptr);
}

}  // namespace heed
