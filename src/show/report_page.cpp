#include "show/report_page.h"

#include <algorithm>

#include "show/page.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kRecords = 40;  // of the learning record, at most

// The numbers of the events, a list for each name; null where one is missing.
template <class Event>
ShortJson columns(const std::vector<Event>& events, std::initializer_list<const char*> names) {
  ShortJson table{{"steps", ShortJson::array()}};
  for (const char* name : names) table[name] = ShortJson::array();
  for (const Event& event : events) {
    const auto line = nlohmann::ordered_json::parse(line_of(event));
    table["steps"].push_back(event.step);
    for (const char* name : names) table[name].push_back(ShortJson(line.value(name, Json())));
  }
  return table;
}

// The loss that the frame has, else that of the event of its step, else null.
template <class Event>
ShortJson loss_of(const Json& frame, const char* key, const std::vector<Event>& events) {
  if (const auto own = frame.find(key); own != frame.end() && own->is_number()) return *own;
  const auto found = std::ranges::find(events, frame["step"].get<std::int64_t>(), &Event::step);
  return found == events.end() ? ShortJson() : ShortJson(found->loss);
}

ShortJson data_of(const Report& r) {
  const auto list = [&](const char* key) {
    return ShortJson(r.film.probe.value(key, Json::array()));
  };
  ShortJson data{{"kinds", list("kinds")}, {"frames", ShortJson::array()}};
  for (const Json& frame : r.film.frames)
    data["frames"].push_back(ShortJson{{"step", frame["step"].get<std::int64_t>()},
                                       {"loss", loss_of(frame, "valid_loss", r.curves.held_out)},
                                       {"train_loss", loss_of(frame, "train_loss", r.curves.train)},
                                       {"probe_loss", loss_of<TrainEvent>(frame, "probe_loss", {})},
                                       {"weights", ShortJson(frame["weights"])},
                                       {"written", ShortJson(frame["written"])}});
  data["run"] = r.run;
  data["last_step"] = r.last_step;
  data["parameter_count"] = r.parameter_count;
  data["best"] = {{"step", r.best_step}, {"by_bleu", r.best_by_bleu}};
  data["notes"] = r.notes;
  data["prompts"] = list("prompts");
  data["expected"] = list("expected");
  data["train"] =
      columns(r.curves.train, {"gradient_norm", "learning_rate", "loss", "tokens_per_second"});
  data["valid"] = columns(r.curves.held_out, {"accuracy", "bleu", "loss"});
  data["yardsticks"] = ShortJson(json_of(r.yardsticks));
  data["overfitting"] = overfitting(r.curves);
  data["training_loss_note"] = training_loss_note(parse_config(r.config, "config.json"));
  data["learning"] = ShortJson::array();
  const std::vector<LearningStep> learning = learning_steps(r.film);
  for (const std::size_t i : spread_indices(learning.size(), kRecords))
    data["learning"].push_back(ShortJson(json_of(learning[i])));
  data["parameters"] = json_of(r.parameters);
  data["config"] = r.config;
  return data;
}

}  // namespace

std::string report_page(const Report& r) {
  return page_with(report_html, data_of(r));
}

std::string report_json(const Report& r) {
  ShortJson data = data_of(r);
  data.erase("kinds");
  for (ShortJson& frame : data["frames"]) frame.erase("weights");
  return text_of(data) + "\n";
}

}  // namespace heed
