#include "show/loss_curves.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "data/objective.h"

namespace heed {
namespace {

// The mean of the training losses of the last five events up to a step; NaN if none is known.
double train_loss_at(const std::vector<TrainEvent>& train, std::int64_t step) {
  const auto end = std::ranges::upper_bound(train, step, {}, &TrainEvent::step);
  double sum = 0, known = 0;
  for (auto p = end - std::min<std::ptrdiff_t>(5, end - train.begin()); p != end; ++p)
    if (!std::isnan(p->loss)) sum += p->loss, ++known;
  return sum / known;
}

// Of very many events, the first of each stretch, those with its least and its largest value of
// each figure, and the last: no spike is lost.
template <class Event, class... Figures>
std::vector<Event> thinned(const std::vector<Event>& events, const Figures&... figures) {
  constexpr std::size_t kMost = 4000, kStretches = 400;
  if (events.size() <= kMost) return events;
  std::set<std::size_t> kept{events.size() - 1};
  for (std::size_t begin = 0, end = 0, n = 1; begin < events.size(); begin = end, ++n) {
    end = n * events.size() / kStretches;
    kept.insert(begin);
    const auto keep = [&](auto figure) {
      const auto value = [&](std::size_t i) {
        return std::optional<double>(events[i].*figure).value_or(kNotMeasured);
      };
      std::size_t least = begin, largest = begin;
      for (std::size_t i = begin; i < end; ++i) {
        if (value(i) < value(least) || std::isnan(value(least))) least = i;
        if (value(i) > value(largest) || std::isnan(value(largest))) largest = i;
      }
      kept.insert({least, largest});
    };
    (keep(figures.second), ...);
  }
  std::vector<Event> some;
  for (const std::size_t i : kept) some.push_back(events[i]);
  return some;
}

// The steps of the events, and a list for each figure.
template <class Event, class... Figures>
ShortJson columns(const std::vector<Event>& all, const Figures&... figures) {
  const std::vector<Event> events = thinned(all, figures...);
  ShortJson table{{"steps", ShortJson::array()}};
  for (const Event& event : events) table["steps"].push_back(event.step);
  const auto add = [&](const char* name, auto figure) {
    ShortJson& column = table[name] = ShortJson::array();
    for (const Event& event : events) {
      const std::optional<double> x = event.*figure;
      column.push_back(x ? ShortJson(*x) : ShortJson());
    }
  };
  (add(figures.first, figures.second), ...);
  return table;
}

}  // namespace

ShortJson curves_json(const LoggedEvents& logged) {
  return {{"train",
           columns(logged.train, std::pair("gradient_norm", &TrainEvent::gradient_norm),
                   std::pair("learning_rate", &TrainEvent::learning_rate),
                   std::pair("from", &TrainEvent::from), std::pair("minutes", &TrainEvent::minutes),
                   std::pair("loss", &TrainEvent::loss),
                   std::pair("tokens_per_second", &TrainEvent::tokens_per_second))},
          {"valid", columns(logged.valid, std::pair("accuracy", &ValidEvent::accuracy),
                            std::pair("bits_per_byte", &ValidEvent::bits_per_byte),
                            std::pair("loss", &ValidEvent::loss),
                            std::pair("metric", &ValidEvent::metric))}};
}

std::string overfitting(const LoggedEvents& logged) {
  if (logged.valid.empty()) return "";
  const auto known = [](const ValidEvent& e) { return std::isnan(e.loss) ? INFINITY : e.loss; };
  const ValidEvent& last = logged.valid.back();
  const auto best = std::ranges::min_element(logged.valid, {}, known);
  const auto after = logged.valid.end() - best - 1;
  const double clearly = after > 1 ? 1.01 : 1.1;
  if (!(last.loss > clearly * best->loss)) return "";
  if (!(train_loss_at(logged.train, last.step) < train_loss_at(logged.train, best->step)))
    return "";
  return fmt::format(
      "held-out loss has risen since step {} ({:#.4g} to {:#.4g}) while training loss falls: the "
      "model is memorising the text; more text, a smaller model, more dropout or "
      "train.patience may help",
      best->step, best->loss, last.loss);
}

std::string training_loss_note(const RunConfig& c) {
  std::string note = has_dropout(c.model)
                         ? "Training losses are measured with dropout; held-out losses are "
                           "measured without it, so "
                           "they can be lower."
                         : "Held-out losses are those of the weights at their step.";
  note +=
      " A training loss is the mean over the steps since the log's line before, drawn in their "
      "middle; those before the log's first line are of single steps.";
  if (c.train.ema_decay > 0)
    note += " Held-out losses are those of the averaged weights (train.ema_decay).";
  if (c.objective.label_smoothing > 0) note += " Neither has label smoothing.";
  const auto objective = make_objective(c);
  if (objective->traits().decoder() && !objective->continues())
    note += " Accuracy leaves </s> out.";
  return note;
}

}  // namespace heed
