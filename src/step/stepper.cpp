#include "step/stepper.h"

#include <cmath>
#include <utility>

#include "base/std_names.h"
#include "step/schedule.h"

namespace heed {

int kept_arrays(const ParamTable& table, const StepOptions& options) {
  return 1 + moments_kept(table, options.optimizer) + (options.ema_decay > 0 ? 1 : 0);
}

Update update_of(const StepOptions& options, int d_model, int64_t step, double gradient_norm) {
  const double t = step;
  return {.step = step,
          .rate = learning_rate(options.optimizer, d_model, step),
          .clip = clip_factor(options.optimizer.clip_norm, gradient_norm),
          // An average of few values follows quickly.
          .ema_decay = min(options.ema_decay, t / (9.0 + t))};
}

Stepper::Stepper(const Transformer& model, const StepOptions& options, const Crew& crew,
                 Products<float>& products)
    : model_(model),
      options_(options),
      crew_(crew),
      slices_(cut_slices(model.table, options.optimizer, crew.ranks())),
      gradients_(model, options.shards, crew, slices_, products),
      optimizer_(model.table, options.optimizer, products, slices_.blocks[crew.exchange().rank()],
                 slices_.blocks[crew.exchange().rank() + 1]),
      values_(model.table.size()) {
  initialize(model.table, options.seed, values_);
  if (options.ema_decay > 0) averaged_ = copy_as<float>(values_);
}

StepResult Stepper::gradient(int64_t step, const StepBatch& batch,
                             const function<void()>& meanwhile) {
  const auto [sums, requests] = gradients_.run(values_, batch, options_.label_smoothing, meanwhile);
  const double norm = gradients_.reduce(), clip = options_.optimizer.clip_norm;
  // Its square is finite, too: second moments stay so.
  const double used = clip > 0 ? min(clip, norm) : norm;
  return {.step = step,
          .sums = sums,
          .gradient_norm = norm,
          .rate = learning_rate(options_.optimizer, model_.config.d_model, step),
          .tokens = batch.tokens,
          .finite = isfinite(sums.objective) && isfinite(norm) && isfinite(float(used * used)),
          .requests = requests};
}

void Stepper::update(const StepResult& result) {
  optimizer_.step(crew_.pool(),
                  update_of(options_, model_.config.d_model, result.step, result.gradient_norm),
                  values_, gradients_.sum(), averaged_ ? &*averaged_ : nullptr);
  crew_.exchange().move(values_.data(), slices_.numbers);
  spread_ = !crew_.alone();
  if (exchange(gathered_gradient_, false))  // the optimizer has cleared its own slice
    std::fill_n(gradients_.sum().data(), values_.size(), 0.0f);
}

void Stepper::share() {
  Exchange& exchange = crew_.exchange();
  const auto all = [&](ParamVec<float>& x) {
    exchange.broadcast(x.data(), x.size() * sizeof(float));
  };
  all(values_);
  if (averaged_) all(*averaged_);
  for (ParamVec<float>& moments : optimizer_.moment_arrays())
    exchange.move(moments.data(), slices_.numbers, Exchange::To::each);
}

void Stepper::gather_for_save() {
  if (!exchange(spread_, false)) return;
  gather_used_weights(Exchange::To::first);
  for (ParamVec<float>& moments : optimizer_.moment_arrays())
    crew_.exchange().move(moments.data(), slices_.numbers, Exchange::To::first);
}

}  // namespace heed
