#include "train/trainer.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "base/format.h"
#include "base/signals.h"
#include "store/training_tensors.h"
#include "train/intervals.h"

namespace heed {
Trainer::Trainer(const PreparedRun& prepared, RunWriter& run, Log& log)
    : prepared_(prepared),
      run_(run),
      log_(log),
      objective_(make_objective(prepared.config)),
      feed_(*objective_, prepared.data.train, prepared.config),
      stepper_(prepared.model, step_options(prepared.config), *prepared.pool),
      record_(prepared.model,
              objective_->evaluation(prepared.config.data.has_validation() ? prepared.data.valid
                                                                           : prepared.data.train)) {
  if (prepared.config.data.has_validation()) validation_.emplace(prepared, *objective_);
  record_.began_with(stepper_.values());
  state_.seed = prepared.config.seed;
  state_.data_hash = prepared.data.hash.all();
}

void Trainer::start_from(const ParamVec<float>& weights) {
  std::copy(weights.data(), weights.data() + weights.size(), stepper_.values().data());
  stepper_.copy_values_to_average();
  record_.began_with(stepper_.values());
  save();
}

void Trainer::restore(const Checkpoint& checkpoint) {
  checkpoint.load_model(model_slots());
  checkpoint.load_training(training_slots());
  state_ = checkpoint.state();
  validated_ = saved_ = state_.step;
  previous_ = state_.cursor;
  record_.began_as(run_.path(), log_);
}

std::optional<Stop> Trainer::reason_to_stop(std::int64_t stop_at) const {
  const TrainConfig& t = prepared_.config.train;
  if (t.max_steps > 0 && state_.step >= t.max_steps) return Stop::finished;
  if (t.max_epochs > 0 && state_.cursor.epoch >= t.max_epochs) return Stop::finished;
  if (t.patience > 0 && state_.stalled >= t.patience) return Stop::early;
  if (stop_at > 0 && state_.step >= stop_at) return Stop::asked;
  if (stop_signal() != 0) return Stop::signal;
  if (t.max_minutes > 0 && seconds_now() - started_ >= 60 * t.max_minutes) return Stop::time;
  return std::nullopt;
}

Stop Trainer::run(std::int64_t stop_at) {
  started_ = seconds_now();
  if (std::exchange(state_.validation_due, false)) {
    validate(true);
    add_frame(true);
    save();
  }
  if (state_.step == 0) add_frame(false);
  std::optional<Stop> stop = reason_to_stop(stop_at);
  if (!stop && std::exchange(state_.best_is_of_end, false)) forget_best(state_);
  while (!stop) {
    const double begin = seconds_now();
    step();
    const double seconds = seconds_now() - begin;
    step_seconds_ += seconds;
    line_seconds_ += seconds;
    ++steps_done_;
    const StepSpan end{state_.step, previous_, state_.cursor};
    if (is_due(prepared_.config.train.log_every, end)) {
      log_line();
      state_.loss_sum = state_.label_sum = 0;
    }
    if (steps_done_ == 20 && eta_seconds() >= 10)
      log_.info(fmt::format("about {} left at this speed", format_duration(eta_seconds())));
    bool save_now = is_due(prepared_.config.train.save_every, end);
    const bool validation = validation_ && is_due(prepared_.config.train.eval_every, end);
    if (validation && validate(true)) save_now = true;
    add_frame(validation);
    stop = reason_to_stop(stop_at);
    if (save_now && !stop) save();
    log_.progress({.done = state_.step,
                   .total = prepared_.config.train.max_steps,
                   .status = "loss " + format_fixed(last_.loss(), 3),
                   .eta_seconds = eta_seconds()});
  }
  log_.end_progress();
  // The end of a run is logged and validated, but counts as the end of an interval only if it is
  // one: so a run that is extended (--max-steps) gives what an uninterrupted run gives.
  const bool ended = *stop == Stop::finished || *stop == Stop::early || *stop == Stop::time;
  if (ended && state_.label_sum > 0) log_line();
  if (ended && validated_ != state_.step) {
    // If a run ends before its first validation, this one is its best until the run is extended.
    const bool first = *stop == Stop::finished && state_.best_step < 0;
    state_.best_is_of_end = validate(first);
  }
  if (saved_ != state_.step) save();
  return *stop;
}

void Trainer::step() {
  previous_ = state_.cursor;
  const std::int64_t step = state_.step + 1;
  last_ = stepper_.gradient(step, feed_.batch(step, previous_), [this] { feed_.fill_next(); });
  if (!last_.finite)
    diverged(step, not_finite(prepared_.model.table, stepper_.values(), stepper_.gradients().sum(),
                              std::isfinite(last_.sums.objective)
                                  ? "the gradient norm (too large for a float)"
                                  : "the loss"));
  if (records_learning(prepared_.config.train, {step, previous_, feed_.after()}))
    record_.before_update(stepper_.values(), stepper_.gradients().sum());
  stepper_.update(last_);
  state_.step = step;
  state_.cursor = feed_.after();
  state_.tokens_seen += last_.tokens;
  learning_ = record_.after_update(stepper_.values(), *prepared_.pool);
  state_.loss_sum += last_.sums.nll;
  state_.label_sum += static_cast<double>(last_.sums.tokens);
  tokens_since_line_ += last_.tokens;
}

void Trainer::diverged(std::int64_t step, const std::string& what) {
  const std::string text = divergence_text(step, what, last_);
  run_.append_metrics(event_metrics(step, "diverged", text));
  log_.end_progress();
  throw divergence_error(text, run_.path().string(), saved_,
                         prepared_.config.optimizer.learning_rate);
}

double Trainer::eta_seconds() const {
  if (prepared_.config.train.max_steps == 0 || steps_done_ < 3) return -1;
  return step_seconds_ / static_cast<double>(steps_done_) *
         static_cast<double>(prepared_.config.train.max_steps - state_.step);
}

void Trainer::log_line() {
  TrainLine line;
  line.step = state_.step;
  line.max_steps = prepared_.config.train.max_steps;
  line.epoch = epochs_at(*objective_, prepared_.data.train, state_.cursor);
  line.loss = state_.loss_sum / std::max(1.0, state_.label_sum);
  line.gradient_norm = last_.gradient_norm;
  line.learning_rate = last_.rate;
  line.tokens_per_second = static_cast<double>(tokens_since_line_) / std::max(1e-9, line_seconds_);
  line.seconds = seconds_now() - started_;
  line.eta_seconds = eta_seconds();
  line.learning = learning_;
  log_.fields(train_line(line));
  curves_.train.push_back({line.step, line.loss});
  run_.append_metrics(train_metrics(line));
  tokens_since_line_ = 0;
  line_seconds_ = 0;
}

// True if this is a new best, which must be saved. Only one that `counts` can be.
bool Trainer::validate(bool counts) {
  if (!validation_) return false;
  const bool at_the_end = reason_to_stop(0) == Stop::finished;
  const auto signalled = [at_the_end] { return !at_the_end && stop_signal() != 0; };
  auto line = validation_->measure(state_.step, stepper_.best_values(), signalled);
  if (!line && signalled()) {
    if (counts) state_.validation_due = true;
    return false;
  }
  if (!line) {
    log_.warn("no validation: the held-out part has no token to predict");
    return false;
  }
  if (!std::isfinite(line->evaluation.loss()))
    diverged(state_.step, not_finite(prepared_.model.table, stepper_.values(),
                                     stepper_.gradients().sum(), "the validation loss"));
  const bool best = counts && validation_->is_best(*line, state_);
  line->verdict = !counts ? "not a candidate for best: not at a multiple of train.eval_every"
                  : best  ? validation_->count_best(*line, state_)
                          : validation_->count_stalled(state_);
  const bool ruined = line->evaluation.loss() > divergence_threshold(prepared_.model);
  if (ruined) line->verdict = "far worse than untrained weights";
  validated_ = state_.step;
  valid_loss_ = line->evaluation.loss();
  log_.only_file(date_and_time());
  log_.fields(valid_line(*line), best && !ruined);
  if (!counts && state_.best_step >= 0 && validation_->is_best(*line, state_))
    log_.warn(
        fmt::format("step {} is better than step {}, but commands still use that one: use "
                    "--checkpoint last for this one",
                    state_.step, state_.best_step));
  curves_.held_out.push_back({state_.step, valid_loss_});
  if (const std::string text = overfitting(curves_); !warned_of_overfitting_ && !text.empty()) {
    log_.info(text);
    warned_of_overfitting_ = true;
  }
  run_.append_metrics(valid_metrics(*line));
  return best;
}

// A resume makes up for an interrupted validation and its frame, without a training loss.
void Trainer::add_frame(bool validated) {
  if (!film_ || state_.validation_due) return;
  Moment moment{state_.step, stepper_.best_values()};
  if (validated) moment.valid_loss = valid_loss_;
  if (!validated && state_.step > 0) moment.train_loss = last_.loss();
  film_->add(moment, validated);
}

std::vector<TensorSlot> Trainer::model_slots() {
  return tensor_slots(prepared_.model.table, stepper_.best_values());
}

std::vector<TensorSlot> Trainer::training_slots() {
  return heed::training_slots(prepared_.model.table, stepper_.optimizer(),
                              stepper_.averaged() ? &stepper_.values() : nullptr);
}

void Trainer::save() {
  const ExampleList examples = objective_->evaluation(prepared_.data.train);
  std::string fault =
      checkpoint_defect(prepared_.model, stepper_.values(), examples, *prepared_.pool);
  if (fault.empty() && prepared_.config.train.ema_decay > 0)
    fault = checkpoint_defect(prepared_.model, stepper_.best_values(), examples, *prepared_.pool);
  if (!fault.empty()) diverged(state_.step, fault);
  if (!validation_) state_.best_step = state_.step;
  run_.save({.model = views_of(model_slots()),
             .training = views_of(training_slots()),
             .config = dump_config(prepared_.config, DumpFor::checkpoint),
             .tokenizers = prepared_.tokenizers.files(),
             .state = state_},
            prepared_.config.train.keep_last);
  saved_ = state_.step;
}

}  // namespace heed
