#include "show/advice.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/format.h"
#include "data/objective.h"
#include "step/schedule.h"
#include "store/best.h"
#include "store/layout.h"
#include "store/origin.h"
#include "store/run_writer.h"

namespace heed {
namespace {

constexpr double kFewPasses = 2;   // in which no model memorises its data
constexpr double kSolved = 0.99;   // accuracy that leaves nothing to learn
constexpr double kLowRate = 0.05;  // share of the rate, at which a run that has ended may go on

// The mean of the last five training losses up to a step; NaN if there are none.
double train_loss_at(const std::vector<TrainEvent>& train, std::int64_t step) {
  const auto end = std::ranges::upper_bound(train, step, {}, &TrainEvent::step);
  const auto n = std::min<std::ptrdiff_t>(5, end - train.begin());
  if (n == 0) return kNotMeasured;
  double sum = 0;
  for (auto p = end - n; p != end; ++p) sum += p->loss;
  return sum / static_cast<double>(n);
}

double known_loss(const ValidEvent& e) {
  return std::isnan(e.loss) ? INFINITY : e.loss;
}

// By train.select_by, less is better.
double badness(const ValidEvent& e) {
  return e.metric ? -*e.metric : known_loss(e);
}

std::int64_t validations_since_best(const std::vector<ValidEvent>& valid) {
  return valid.empty() ? 0 : valid.end() - std::ranges::min_element(valid, {}, badness) - 1;
}

// The validation since which held-out loss has risen; null: it has not.
const ValidEvent* lowest_before_rise(const LoggedEvents& logged) {
  if (logged.valid.empty() || validations_since_best(logged.valid) == 0) return nullptr;
  const ValidEvent& last = logged.valid.back();
  const auto best = std::ranges::min_element(logged.valid, {}, known_loss);
  const double clearly = logged.valid.end() - best > 2 ? 1.01 : 1.1;
  const bool rises =
      last.loss > clearly * best->loss &&
      train_loss_at(logged.train, last.step) < train_loss_at(logged.train, best->step);
  return rises ? &*best : nullptr;
}

// Times through the training data.
double passes_of(const Course& c) {
  const double logged = c.logged.train.empty() ? kNotMeasured : c.logged.train.back().epoch;
  return std::isfinite(logged) ? logged : static_cast<double>(c.states.back().cursor.epoch);
}

// A run whose rate falls at its end goes back to before that for another end.
bool can_go_back(const Course& c, const OptimizerConfig& o) {
  const std::int64_t fall = full_rate_until(o);
  return c.states.back().step <= fall || std::ranges::any_of(c.states, [&](const State& s) {
           return s.step > 0 && s.step <= fall;
         });
}

// The command that trains on, and in `text` why it is another run, if it is.
std::string way_on(const Course& c, std::string& text) {
  OptimizerConfig o = c.config.optimizer;
  const TrainConfig& t = c.config.train;
  const State& s = c.states.back();
  const End end = end_of(t, s);
  const std::string resume = "heed resume " + shell_word(c.run);
  const std::string patience =
      t.patience > 0 && s.stalled >= t.patience ? " --set train.patience=0" : "";
  if (end == End::none || end == End::patience) return resume + patience;
  if (o.decay_steps.at_end && o.decay_steps == 0) o.decay_steps.step = s.step;
  const std::int64_t longer = s.step + std::max<std::int64_t>(1, s.step / 2);
  const auto rate = [&](std::int64_t step) {
    return learning_rate(o, c.config.model.d_model, step);
  };
  const std::string more = fmt::format("{} --more {}{}", resume, longer - s.step, patience);
  const bool back = o.decay_steps.at_end;
  if (back ? can_go_back(c, o) : longer <= decayed_at(o) || rate(longer) > 0) return more;

  text = fmt::format(
      "; but the learning rate has come down, and {}: that takes a new run (or, at a low rate, "
      "{}{}{})",
      back ? "no checkpoint from before that is left" : "is 0 from now on", more,
      back ? fmt::format(" --set optimizer.decay_steps={}", o.decay_steps.step) : "",
      o.min_learning_rate > 0
          ? ""
          : fmt::format(" --set optimizer.min_learning_rate={:g}", kLowRate * o.learning_rate));
  const std::filesystem::path folder = (std::filesystem::path(c.run) / "").parent_path();
  const std::int64_t steps = 2 * s.step;
  return fmt::format("heed train {} --run {}{} --set train.max_steps={}{}{}",
                     shell_word((folder / kConfigFile).string()),
                     shell_word(folder.string() + "-longer"),
                     c.init_from.empty() ? "" : " --init-from " + shell_word(c.init_from), steps,
                     back ? "" : fmt::format(" --set optimizer.decay_steps={}", steps),
                     t.max_epochs > 0 ? " --set train.max_epochs=0" : "");
}

}  // namespace

Advice advise(const Course& c) {
  const auto objective = make_objective(c.config);
  const std::vector<ValidEvent>& valid = c.logged.valid;
  const double passes = passes_of(c), useful = useful_passes(!objective->traits().encoder());
  const bool solved =
      std::ranges::any_of(valid, [](const auto& e) { return e.accuracy > kSolved; });
  const bool over = end_of(c.config.train, c.states.back()) != End::none;
  Advice a;
  std::string another_run;
  a.way_on = way_on(c, another_run);
  if (const ValidEvent* lowest = lowest_before_rise(c.logged)) {
    const bool kept = c.best && c.best->step < c.states.back().step;
    a.verdict = Advice::memorised;
    a.text = fmt::format(
        "the best was at step {}: more steps only memorise the text; {}more text, a smaller model "
        "or more dropout would help",
        kept ? c.best->step : lowest->step,
        kept ? fmt::format("heed {} {} writes with that one, --checkpoint last with the newest; ",
                           objective->use().command, shell_word(c.run))
             : "");
  } else if (!solved && passes < 0.9 * useful &&
             (passes < kFewPasses || validations_since_best(valid) <= 1)) {
    a.verdict = Advice::more_steps;
    a.text = fmt::format("more steps would help: so far it has read its training data {:.2g} {}{}",
                         passes, passes == 1 ? "time" : "times", another_run);
    a.command = a.way_on;
  } else if (over && c.best && std::ranges::any_of(c.logged.yardsticks, [&](const Yardstick& y) {
               return y.nats_per_token <= c.best->valid_loss;
             })) {
    a.verdict = Advice::larger_model;
    a.text = "more text or a larger model would help, rather than more steps";
  }
  a.way_on += another_run;
  return a;
}

Advice advice_on(const std::filesystem::path& run, const LoggedEvents& logged) try {
  std::vector<State> states = states_of(run);
  if (states.empty()) return {};
  Advice a = advise({run.string(), load_config((run / kConfigFile).string()), logged,
                     std::move(states), best_checkpoint(run), read_origin(run.string()).init_from});
  if (a.verdict == Advice::more_steps && is_locked(run)) a.text = a.command = "";  // it takes them
  return a;
} catch (const Error&) {  // damaged
  return {};
}

Advice advice_on(const std::filesystem::path& run) try {
  return advice_on(run, read_events(run));
} catch (const Error&) {
  return {};
}

std::string overfitting(const LoggedEvents& logged, bool patience) {
  const ValidEvent* lowest = lowest_before_rise(logged);
  if (lowest == nullptr) return "";
  return fmt::format(
      "held-out loss has risen since step {} ({:#.4g} to {:#.4g}) while training loss falls: the "
      "model is memorising the text; more text, a smaller model{} may help",
      lowest->step, lowest->loss, logged.valid.back().loss,
      patience ? " or more dropout" : ", more dropout or train.patience");
}

}  // namespace heed
