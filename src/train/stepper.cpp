#include "train/stepper.h"

#include <algorithm>
#include <cmath>

#include "train/schedule.h"

namespace heed {
Stepper::Stepper(const RunConfig& config, const Transformer& model, const Objective& objective,
                 const Split& split, Pool& pool)
    : config_(config),
      model_(model),
      pool_(pool),
      batcher_(objective, split, config),
      gradients_(model, config.train.shards, pool),
      optimizer_(model.table, config.optimizer),
      values_(model.table.size()) {
  initialize(model.table, config.seed, values_);
  if (config.train.ema_decay > 0) averaged_.emplace(values_.size());
  copy_values_to_average();
}

void Stepper::copy_values_to_average() {
  if (averaged_) std::copy(values_.data(), values_.data() + values_.size(), averaged_->data());
}

double epochs_at(const Objective& objective, const Split& split, const Cursor& cursor) {
  const auto count = static_cast<double>(objective.count(split, cursor.epoch));
  return static_cast<double>(cursor.epoch) +
         static_cast<double>(cursor.index) / std::max(1.0, count);
}

StepResult Stepper::step(State& state, const BeforeUpdate& before_update) {
  if (!filled_) batcher_.fill(state.step + 1, state.cursor, batches_[current_]);
  const StepBatch& batch = batches_[current_];
  StepBatch& next = batches_[1 - current_];
  StepResult result;
  result.tokens = batch.tokens;
  result.sums = gradients_.run(values_, batch, config_.objective.label_smoothing,
                               [&] { batcher_.fill(state.step + 2, batch.after, next); });
  result.gradient_norm = gradients_.reduce();
  result.rate = learning_rate(config_.optimizer, config_.model.d_model, state.step + 1);
  result.finite = std::isfinite(result.sums.objective) && std::isfinite(result.gradient_norm);
  if (!result.finite) return result;
  if (before_update) before_update(batch.after);
  // An average of few values follows quickly.
  const double decay = std::min(config_.train.ema_decay, (1.0 + state.step) / (10.0 + state.step));
  const Update update{state.step + 1, result.rate,
                      clip_factor(config_.optimizer.clip_norm, result.gradient_norm), decay};
  optimizer_.step(pool_, update, values_, gradients_.sum(), averaged_ ? &*averaged_ : nullptr,
                  gradients_.profiles());
  state.step += 1;
  state.cursor = batch.after;
  state.tokens_seen += batch.tokens;
  current_ = 1 - current_;
  filled_ = true;
  return result;
}

std::vector<TensorSlot> Stepper::model_slots() {
  return tensor_slots(model_.table, averaged_ ? *averaged_ : values_);
}

std::vector<TensorSlot> Stepper::training_slots() {
  return heed::training_slots(model_.table, optimizer_, averaged_ ? &values_ : nullptr);
}

std::vector<TensorSlot> training_slots(const ParamTable& table, Optimizer<float>& optimizer,
                                       ParamVec<float>* raw) {
  std::vector<TensorSlot> all;
  const auto append = [&](ParamVec<float>& values, const char* prefix, auto&& is_kept) {
    std::vector<TensorSlot> slots = tensor_slots(table, values, prefix);
    for (std::size_t i = 0; i < slots.size(); ++i)
      if (is_kept(table.infos()[i])) all.push_back(std::move(slots[i]));
  };
  const auto every = [](const ParamInfo&) { return true; };
  const auto muon = [&](const ParamInfo& info) { return moved_by_muon(optimizer.config(), info); };
  const auto adam = [&](const ParamInfo& info) { return !muon(info); };
  const int moments = moments_of(optimizer.config());
  if (moments == 2) append(optimizer.m(), "muon.m.", muon);
  if (moments == 1) append(optimizer.m(), "sgd.m.", every);
  if (moments == 2) append(optimizer.m(), "adam.m.", adam);
  if (moments == 2) append(optimizer.v(), "adam.v.", adam);
  if (raw != nullptr) append(*raw, "raw.", every);
  return all;
}

}  // namespace heed
