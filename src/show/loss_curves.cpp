#include "show/loss_curves.h"

#include <optional>

#include "base/json.h"
#include "data/objective.h"

namespace heed {
namespace {

// The steps of the events, and a list for each figure.
template <class Event, class... Figures>
Json columns(const std::vector<Event>& events, const Figures&... figures) {
  Json table{{"steps", Json::array()}};
  for (const Event& event : events) table["steps"].push_back(event.step);
  const auto add = [&](const char* name, auto figure) {
    Json& column = table[name] = Json::array();
    for (const Event& event : events) {
      const std::optional<double> x = event.*figure;
      column.push_back(x ? Json(*x) : Json());
    }
  };
  (add(figures.first, figures.second), ...);
  return table;
}

}  // namespace

Json curves_json(const LoggedEvents& logged) {
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
