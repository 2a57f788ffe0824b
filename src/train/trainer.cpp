#include "train/trainer.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <new>
#include <utility>

#include "base/fields.h"
#include "base/format.h"
#include "base/profile.h"
#include "base/signals.h"
#include "base/std_names.h"
#include "evaluate/figures.h"
#include "step/schedule.h"
#include "store/run_folder.h"
#include "store/safetensors.h"
#include "train/ranks.h"

namespace heed {

Trainer::Trainer(const PreparedRun& prepared, RunWriter* run)
    : prepared_(prepared),
      crew_(prepared.crew),
      run_(run),
      objective_(make_objective(prepared.config)),
      spared_(fall_of(prepared.config.optimizer).spared()),
      validates_(can_validate(prepared, *objective_)),
      feed_(*objective_, prepared.data.train, prepared.config),
      stepper_(prepared.model, step_options(prepared.config), crew_, *prepared.products) {
  state_.seed = prepared.config.seed;
  state_.data_hash = prepared.data.hash.all();
  state_.longest_source = prepared.data.train.longest(Side::source);
  state_.longest_target = prepared.data.train.longest(Side::target);
}

void Trainer::start_from(const ParamVec<float>& weights) {
  stepper_.start_from(weights);
  save();
}

void Trainer::restore(const Checkpoint& checkpoint) {
  checkpoint.load(kModelFile, tensor_slots(stepper_.table(), stepper_.weights().used));
  checkpoint.load(kTrainingFile, training_slots(stepper_));
  state_ = checkpoint.state;
  validated_ = saved_ = state_.step;
}

// Every process begins where the first one stands.
void Trainer::begin_together(int64_t stop_at) {
  if (crew_.alone()) return;
  lead(prepared_, Task::train, stop_at);
  string state = format_state({state_, false, {}});
  Exchange& exchange = crew_.exchange();
  exchange.share(state);
  state_ = parse_state(state, "the first rank's state").state;
  exchange.share(validated_, saved_);
  stepper_.share();
}

int Trainer::requests() const {
  const double minutes = prepared_.config.train.max_minutes;
  const bool late = run_ && minutes > 0 && seconds_now() - started_ >= 60 * minutes;
  return (stop_signal() != 0 ? kStop : 0) | (late ? kTimeIsUp : 0);
}

Stop Trainer::reason_to_stop(int64_t stop_at) const {
  const Stop end = end_of(prepared_.config.train, state_, stop_at);
  if (end != Stop::none) return end;
  if ((agreed() & kStop) != 0) return Stop::signal;
  if ((agreed() & kTimeIsUp) != 0) return Stop::time;
  return Stop::none;
}

Stop Trainer::run(int64_t stop_at, Stop asked) {
  const TrainConfig& t = prepared_.config.train;
  begin_together(stop_at);
  tell(&Listener::began, moment());
  if (prepared_.config.data.has_validation() && !validates_)
    tell(&Listener::remarked, "no validation: the held-out part has no token to predict");
  started_ = seconds_now();
  if (exchange(state_.validation_due, false)) {
    validate(true);
    save();
  }
  Stop stop = reason_to_stop(stop_at);
  while (stop == Stop::none) {
    const StepSpan span = step();
    if (is_due(t.log_every, span)) {
      log_line();
      state_.loss_sum = state_.label_sum = 0;
    }
    const bool best = is_due(t.eval_every, span) && validate(true);
    stop = reason_to_stop(stop_at);
    const bool saves = best || state_.step == spared_ || is_due(t.save_every, span);
    if (saves && stop == Stop::none) save();
  }
  return finish(stop == Stop::asked ? asked : stop);
}

StepSpan Trainer::step() {
  const double begin = seconds_now();
  StepSpan span{state_.step + 1, state_.cursor, {}};
  StepBatch& batch = feed_.batch(span.step, span.before);
  span.after = feed_.after();
  const bool validates = validates_ && is_due(prepared_.config.train.eval_every, span);
  batch.requests = requests();
  for (const auto& listener : listeners_)
    if (listener->looks_at(span.step, validates)) batch.requests |= kLook;
  last_ = stepper_.gradient(span.step, batch, [&] { feed_.fill_next(); });
  const bool looked_at = (last_.requests & kLook) != 0;
  if (looked_at || !last_.finite) stepper_.gather_gradient();
  state_.step = span.step;
  if (!last_.finite) not_finite();
  tell(&Listener::before_update, stepper_.values(), stepper_.gradients().sum());
  stepper_.update(last_);
  if (looked_at) stepper_.gather_used_weights(Exchange::To::first);
  state_.cursor = span.after;
  state_.tokens_seen += last_.tokens;
  state_.loss_sum += last_.sums.nll;
  state_.label_sum += double(last_.sums.tokens);
  state_.valid_loss = state_.valid_metric = kNotMeasured;
  step_seconds_ = seconds_now() - begin;
  line_seconds_ += step_seconds_;
  line_tokens_ += last_.tokens;
  tell(&Listener::stepped, moment());
  return span;
}

void Trainer::log_line() {
  const double loss = state_.loss_sum / state_.label_sum;  // NaN: no token to predict
  tell(&Listener::logged,
       TrainEvent{.step = state_.step,
                  .epoch = epochs_at(*objective_, prepared_.data.train, state_.cursor),
                  .loss = loss,
                  .perplexity = exp(loss),
                  .gradient_norm = last_.gradient_norm,
                  .learning_rate = last_.rate,
                  .tokens_per_second = double(line_tokens_) / max(1e-9, line_seconds_),
                  .seconds = seconds_now() - started_});
  line_tokens_ = 0;
  line_seconds_ = 0;
}

// True if patience sees a new best, which must be saved; it sees those at multiples of eval_every
// alone.
bool Trainer::validate(bool on_grid) {
  if (!validates_) return false;
  const bool planned_end = reason_to_stop(0) == Stop::finished;
  const auto signalled = [planned_end] { return !planned_end && stop_signal() != 0; };
  stepper_.gather_used_weights(Exchange::To::all);
  optional<ValidEvent> line;
  try {
    line =
        measure_validation(prepared_, *objective_, state_.step, stepper_.weights().used, signalled);
  } catch (const bad_alloc&) {
    if (!crew_.alone()) throw;  // the others cannot save
    state_.validation_due = on_grid;
    save();
    throw Error(Exit::memory, "not enough memory for the validation.",
                "fewer --threads, or other held-out data; heed resume validates first");
  }
  if (!line) {
    state_.validation_due = on_grid;
    last_.requests |= kStop;  // of whichever process
    return false;
  }
  if (!isfinite(line->loss)) not_finite();
  state_.valid_loss = line->loss;
  state_.valid_metric =
      line->metric ? figure(*line->metric_name).quality(*line->metric) : kNotMeasured;
  const bool best =
      judge_validation(prepared_, *line, state_, on_grid, run_ ? run_->best() : nullopt);
  validated_ = state_.step;
  tell(&Listener::validated, *line, moment());
  return best;
}

CheckpointContents Trainer::contents() {
  return {.model = tensor_slots(stepper_.table(), stepper_.weights().used),
          .training = training_slots(stepper_),
          .config = dump_config(prepared_.config, DumpFor::checkpoint),
          .tokenizers = prepared_.tokenizers.files(),
          .state = state_,
          .meanwhile = [&] { crew_.busy(); }};
}

void Trainer::save() {
  stepper_.gather_for_save();
  if (!run_) {
    saved_ = state_.step;
    return;
  }
  const ExampleList examples = objective_->evaluation(prepared_.data.train);
  const auto check = [&](const ParamVec<float>& values) {
    const string fault = checkpoint_defect(prepared_.with(values), examples, crew_.pool());
    if (!fault.empty()) diverged(fault);
  };
  const Weights weights = stepper_.weights();
  check(weights.trained);
  if (weights.differ()) check(weights.used);
  run_->save(contents(),
             {prepared_.config.train.keep_last, prepared_.config.train.keep_every, spared_});
  saved_ = state_.step;
  for (const string& note : run_->take_notes()) tell(&Listener::remarked, note);
}

// The end of a run is logged and validated, but moves nothing that a later end (--max-steps) would
// not have: neither the sums of the next log line nor patience.
Stop Trainer::finish(Stop stop) {
  const bool ended = stop == Stop::finished || stop == Stop::early || stop == Stop::time;
  if (ended && (state_.label_sum > 0 || line_tokens_ > 0)) log_line();
  if (ended && validated_ != state_.step) validate(false);
  if (saved_ != state_.step) save();
  tell(&Listener::ended, stop, moment());
  return stop;
}

void Trainer::not_finite() {
  diverged(heed::not_finite(prepared_.model.table, stepper_.values(), stepper_.gradients().sum()));
}

void Trainer::diverged(const string& what) {
  if (!run_) crew_.exchange().wait_for_end();  // all ranks know, and the first says it
  string text = fmt::format("training diverged at step {}: {}", state_.step, what);
  if (last_.sums.tokens > 0)
    text += fmt::format(" (last step: loss {:.4f}, learning rate {:.1e})", std::fabs(last_.loss()),
                        last_.rate);
  if (run_) run_->append(kMetrics, text_of(RunEvent{state_.step, "diverged", text}));
  throw Error(
      Exit::diverged,
      text + (saved_ < 0 ? ". There is no checkpoint yet."
                         : fmt::format(". The checkpoints up to step {} are good.", saved_)),
      fmt::format("see it again: heed resume {0} --set train.log_every=1; continue with a lower "
                  "rate: heed resume {0} --set optimizer.learning_rate={1:.1e}; if that diverges "
                  "at once, start over with that rate",
                  run_ ? shell_word(run_->path().string()) : "RUN",
                  prepared_.config.optimizer.learning_rate / 10));
}

}  // namespace heed
