#include "show/loss_curves.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace heed {
namespace {

// The mean of the last five training losses up to a step; NaN if there are none.
double train_loss_at(const std::vector<TrainEvent>& train, std::int64_t step) {
  const auto end = std::ranges::upper_bound(train, step, {}, &TrainEvent::step);
  const auto n = std::min<std::ptrdiff_t>(5, end - train.begin());
  if (n == 0) return std::numeric_limits<double>::quiet_NaN();
  double sum = 0;
  for (auto p = end - n; p != end; ++p) sum += p->loss;
  return sum / static_cast<double>(n);
}

// The numbers of the events, a list for each name; null where one is missing.
template <class Event>
ShortJson columns(const std::vector<Event>& events, std::initializer_list<const char*> names) {
  ShortJson table{{"steps", ShortJson::array()}};
  for (const char* name : names) table[name] = ShortJson::array();
  for (const Event& event : events) {
    const auto line = nlohmann::ordered_json::parse(line_of(event));
    table["steps"].push_back(event.step);
    for (const char* name : names)
      table[name].push_back(ShortJson(line.value(name, nlohmann::ordered_json())));
  }
  return table;
}

}  // namespace

void LossCurves::take(const nlohmann::ordered_json& line) {
  if (auto event = event_from<ValidEvent>(line)) held_out.push_back(*event);
  if (auto event = event_from<TrainEvent>(line)) train.push_back(*event);
  const auto event = event_from<RunEvent>(line);
  if (event && event->end) ends.push_back(*event->end);
}

ShortJson json_of(const LossCurves& curves) {
  ShortJson data{{"ends", ShortJson::array()}};
  for (const RunEnd& end : curves.ends)
    data["ends"].push_back({{"step", end.step}, {"loss", end.loss}});
  data["train"] =
      columns(curves.train, {"gradient_norm", "learning_rate", "loss", "tokens_per_second"});
  data["valid"] = columns(curves.held_out, {"accuracy", "bits_per_byte", "loss"});
  data["valid"]["metric"] = ShortJson::array();
  for (const ValidEvent& event : curves.held_out)
    data["valid"]["metric"].push_back(event.metric ? ShortJson(*event.metric) : ShortJson());
  return data;
}

std::string overfitting(const LossCurves& curves) {
  if (curves.held_out.empty()) return "";
  const auto known = [](const ValidEvent& e) { return std::isnan(e.loss) ? INFINITY : e.loss; };
  const ValidEvent& last = curves.held_out.back();
  const auto best = std::ranges::min_element(curves.held_out, {}, known);
  const auto after = curves.held_out.end() - best - 1;
  const double clearly = after > 1 ? 1.01 : 1.1;
  if (!(last.loss > clearly * best->loss)) return "";
  if (!(train_loss_at(curves.train, last.step) < train_loss_at(curves.train, best->step)))
    return "";
  return fmt::format(
      "held-out loss has risen since step {} ({:#.4g} to {:#.4g}) while training loss falls: the "
      "model is memorising the text; more text, a smaller model, more dropout or "
      "train.patience may help",
      best->step, best->loss, last.loss);
}

std::string training_loss_note(const RunConfig& c) {
  std::string note =
      has_dropout(c.model)
          ? "Training losses are measured with dropout, as means of the steps since "
            "the last point; held-out losses are measured without it, so they can "
            "be lower."
          : "Training losses are means of the steps since the last point (before the "
            "log's first line: of one step); held-out losses are those of the "
            "weights at their step.";
  if (c.train.ema_decay > 0)
    note += " Held-out losses are those of the averaged weights (train.ema_decay).";
  if (c.objective.label_smoothing > 0) note += " Neither has label smoothing.";
  return note;
}

}  // namespace heed
