#include "report/report_page.h"

#include <algorithm>

#include "evaluate/yardsticks.h"
#include "report/page.h"

namespace heed {
namespace {

constexpr std::size_t kRecords = 40;  // of the learning record, at most

ShortJson json_of(const Curves& curves) {
  ShortJson json = curves.numbers;
  json["steps"] = curves.steps;
  return json;
}

// The loss that the frame has, else what the metrics have for its step, else null.
ShortJson loss_of(const nlohmann::ordered_json& frame, const char* key, const Curves& curves) {
  if (const auto own = frame.find(key); own != frame.end() && own->is_number()) return *own;
  const auto found = std::ranges::find(curves.steps, frame["step"].get<std::int64_t>());
  if (found == curves.steps.end()) return nullptr;
  return curves.numbers.at("loss")[static_cast<std::size_t>(found - curves.steps.begin())];
}

ShortJson data_of(const Report& r, const RunMetrics& metrics) {
  const auto list = [&](const char* key) {
    return ShortJson(r.film.probe.value(key, nlohmann::ordered_json::array()));
  };
  ShortJson data{{"kinds", list("kinds")}, {"frames", ShortJson::array()}};
  for (const nlohmann::ordered_json& frame : r.film.frames)
    data["frames"].push_back(ShortJson{{"step", frame["step"].get<std::int64_t>()},
                                       {"loss", loss_of(frame, "valid_loss", metrics.valid)},
                                       {"train_loss", loss_of(frame, "train_loss", metrics.train)},
                                       {"probe_loss", loss_of(frame, "probe_loss", {})},
                                       {"weights", ShortJson(frame["weights"])},
                                       {"written", ShortJson(frame["written"])}});
  data["run"] = r.run;
  data["last_step"] = r.last_step;
  data["parameter_count"] = r.parameter_count;
  data["best"] = {{"step", r.best_step}, {"by_bleu", r.best_by_bleu}};
  data["notes"] = r.notes;
  data["prompts"] = list("prompts");
  data["expected"] = list("expected");
  data["train"] = json_of(metrics.train);
  data["valid"] = json_of(metrics.valid);
  data["yardsticks"] = ShortJson(json_of(metrics.yardsticks));
  data["overfitting"] = overfitting(metrics.losses);
  data["training_loss_note"] = training_loss_note(parse_config(r.config, "config.json"));
  data["learning"] = ShortJson::array();
  for (const std::size_t i : spread_indices(metrics.learning.size(), kRecords))
    data["learning"].push_back(ShortJson(json_of(metrics.learning[i])));
  data["parameters"] = json_of(r.parameters);
  data["config"] = r.config;
  return data;
}

}  // namespace

std::string report_page(const Report& r, const RunMetrics& metrics) {
  return page_with(report_html, data_of(r, metrics));
}

std::string report_json(const Report& r, const RunMetrics& metrics) {
  ShortJson data = data_of(r, metrics);
  data.erase("kinds");
  for (ShortJson& frame : data["frames"]) frame.erase("weights");
  return text_of(data) + "\n";
}

}  // namespace heed
