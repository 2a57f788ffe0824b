#include "show/advice.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/files.h"
#include "base/format.h"
#include "base/std_names.h"
#include "data/objective.h"
#include "evaluate/figures.h"
#include "step/schedule.h"
#include "store/run_folder.h"
#include "store/run_writer.h"

namespace heed {
namespace {

constexpr double kFewPasses = 2;    // in which no model memorises its data
constexpr double kSolved = 0.99;    // accuracy that leaves nothing to learn
constexpr double kFlat = 1.02;      // held-out loss that more steps did not bring down further
constexpr double kKnown = 0.8;      // share of it that training loss has, once data is memorised
constexpr double kManyPasses = 20;  // before which that does not rule out more steps

// The mean of the last five training losses up to a step; NaN if there are none.
double train_loss_at(const vector<TrainEvent>& train, int64_t step) {
  const auto end = ranges::upper_bound(train, step, {}, &TrainEvent::step);
  double sum = 0, known = 0;
  for (auto p = end - min<ptrdiff_t>(5, end - train.begin()); p != end; ++p)
    if (!isnan(p->loss)) sum += p->loss, ++known;
  return sum / known;
}

double known_loss(const ValidEvent& e) {
  return isnan(e.loss) ? INFINITY : e.loss;
}

// By train.select_by; lower is better.
double badness(const ValidEvent& e) {
  return e.metric && e.metric_name ? -figure(*e.metric_name).quality(*e.metric) : known_loss(e);
}

// The validation since which held-out loss has risen; null: it has not, or the model is as good.
const ValidEvent* lowest_before_rise(const LoggedEvents& logged) {
  const vector<ValidEvent>& valid = logged.valid;
  if (valid.empty() || ranges::min_element(valid, {}, badness) + 1 == valid.end()) return nullptr;
  const auto lowest = ranges::min_element(valid, {}, known_loss);
  const double clearly = valid.end() - lowest > 2 ? 1.01 : 1.1;
  const auto training = [&](const ValidEvent& e) { return train_loss_at(logged.train, e.step); };
  const ValidEvent& last = valid.back();
  const bool rises = !(last.accuracy > kSolved) && badness(last) > badness(*lowest) &&
                     last.loss > clearly * lowest->loss && training(last) < training(*lowest);
  return rises ? &*lowest : nullptr;
}

// Has the second half of the training hardly brought held-out loss down? (What has a metric may
// have got better at that.)
bool is_flat(const vector<ValidEvent>& valid) {
  if (valid.empty() || valid.back().metric) return false;
  const auto late = ranges::upper_bound(valid, valid.back().step / 2, {}, &ValidEvent::step);
  double before = INFINITY, after = INFINITY;
  for (auto e = valid.begin(); e != valid.end(); ++e)
    (e < late ? before : after) = min(e < late ? before : after, known_loss(*e));
  return before <= kFlat * after;
}

// Sets the ways on; if the way on is another run, the text says why.
void add_ways_on(const Run& run, Advice& a) {
  const RunConfig& config = run.config;
  OptimizerConfig o = config.optimizer;
  const State& s = run.states.back();
  const bool goes_on = run.end() != Stop::finished, with_end = o.decay_steps.at_end,
             stalled = config.train.patience > 0 && s.stalled >= config.train.patience;
  const int64_t longer = s.step + max<int64_t>(1, s.step / 2), twice = 2 * s.step;
  const string patience = stalled ? " --set train.patience=0" : "",
               resume = "heed resume " + shell_word(run.folder.string()),
               more = fmt::format("{} --more {}{}", resume, longer - s.step, patience);
  if (with_end && o.decay_steps == 0) o.decay_steps.step = s.step;
  // A branch goes on from before the fall of its rate, if that is at its end.
  const bool back = (with_end || o.decay_steps == config.train.max_steps) &&
                    ranges::any_of(run.states, [&](const State& x) {
                      return 0 < x.step && x.step <= fall_of(o).from;
                    });
  const bool stays =
      !with_end && (longer <= fall_of(o).to || learning_rate(o, config.model.d_model, longer) > 0);
  const fs::path folder = (run.folder / "").parent_path();
  const string& from = run.origin.init_from;
  if (goes_on)
    a.way_on = resume + patience;
  else if (back)  // its rate falls again
    a.way_on = more + (with_end ? "" : " --set optimizer.decay_steps=end");
  else if (stays)
    a.way_on = more;
  else {
    a.way_on = fmt::format("heed train {} --run {}{} --set train.max_steps={}{}{}",
                           shell_word((folder / kConfigFile).string()),
                           shell_word(next_name(folder).string()),
                           from.empty() ? "" : " --init-from " + shell_word(from), twice,
                           with_end ? "" : fmt::format(" --set optimizer.decay_steps={}", twice),
                           config.train.max_epochs > 0 ? " --set train.max_epochs=0" : "");
    a.text = "; they need a new run, as its rate has fallen";
  }
}

}  // namespace

Advice advise(const Run& run) {
  if (run.states.empty() || (run.end() == Stop::none && run.locked)) return {};  // it goes on
  const LoggedEvents& logged = run.logged;
  const State& last = run.states.back();
  const auto objective = make_objective(run.config);
  const vector<ValidEvent>& valid = logged.valid;
  const auto best = ranges::min_element(valid, {}, badness);
  const double passes = logged.train.empty() || isnan(logged.train.back().epoch)
                            ? double(last.cursor.epoch)
                            : logged.train.back().epoch;
  const bool solved = best != valid.end() && best->accuracy > kSolved,
             few = last.step > 0 && passes < 0.9 * useful_passes(!objective->traits().encoder()),
             best_at_end = valid.end() - best <= 1,
             memorised = !valid.empty() && train_loss_at(logged.train, valid.back().step) <
                                               kKnown * valid.back().loss,
             many = passes >= kManyPasses;
  Advice a;
  add_ways_on(run, a);
  const string if_new = exchange(a.text, "");
  if (lowest_before_rise(logged) != nullptr) {
    a.text = fmt::format(
        "the best was at step {}: with more steps it only memorises its training data; more text "
        "would help. heed {} {} uses that step, --checkpoint last the newest",
        best->step, objective->use().command, shell_word(run.folder.string()));
  } else if (!solved && few &&
             (passes < kFewPasses || (best_at_end && !(memorised && many) && !is_flat(valid)))) {
    a.text = fmt::format(
        "more steps would help: it was still learning after {:.2g} times through its data{}",
        passes, if_new);
    a.command = a.way_on;
  } else if (run.end() != Stop::none && best != valid.end() && (many || !few) &&
             ranges::any_of(logged.yardsticks,
                            [&](const Yardstick& y) { return y.nats_per_token <= best->loss; })) {
    a.text = memorised ? "more text would help" : "a larger model would help";
    if (many) a.text += " rather than more steps";
    if (memorised) a.text += ": it knows its training data far better than other text";
  }
  return a;
}

Advice advice_on(const fs::path& folder) try {
  return advise(read_run(folder));
} catch (const Error&) {
  return {};
}

string overfitting(const LoggedEvents& logged) {
  const ValidEvent* lowest = lowest_before_rise(logged);
  if (lowest == nullptr) return "";
  return fmt::format(
      "held-out loss has risen since step {} ({:#.4g} to {:#.4g}) while training loss falls: the "
      "model is memorising the training data; more text, dropout or train.patience may help",
      lowest->step, lowest->loss, logged.valid.back().loss);
}

}  // namespace heed
