#include "report/report_page.h"

#include <algorithm>

#include "report/page_maps.h"

namespace heed {
namespace {

constexpr std::size_t kRecords = 40;  // of the learning record, at most

ShortJson json_of(const Curves& curves) {
  ShortJson json = curves.numbers;
  json["steps"] = curves.steps;
  return json;
}

// What was measured at this step, or null.
ShortJson held_out_loss(const Curves& valid, std::int64_t step) {
  const auto found = std::ranges::find(valid.steps, step);
  if (found == valid.steps.end()) return nullptr;
  return valid.numbers.at("loss")[static_cast<std::size_t>(found - valid.steps.begin())];
}

}  // namespace

std::string report_page(const Report& r, const RunMetrics& metrics) {
  ShortJson data = page_of_maps(r.tokens, r.steps.empty() ? AttentionMaps{} : r.steps.front().maps);
  for (const ReportStep& step : r.steps)
    data["frames"].push_back(ShortJson{{"step", step.step},
                                       {"loss", held_out_loss(metrics.valid, step.step)},
                                       {"weights", packed_weights(step.maps)},
                                       {"sharpest", sharpest_heads(step.maps)},
                                       {"written", step.written}});
  data["run"] = r.run;
  data["last_step"] = r.last_step;
  data["parameter_count"] = r.parameter_count;
  data["best"] = {{"step", r.best_step}, {"by_bleu", r.best_by_bleu}};
  data["notes"] = r.notes;
  data["prompts"] = r.prompts;
  data["expected"] = r.expected;
  data["train"] = json_of(metrics.train);
  data["valid"] = json_of(metrics.valid);
  data["learning"] = ShortJson::array();
  for (const std::size_t i : spread_indices(metrics.learning.size(), kRecords))
    data["learning"].push_back(ShortJson(json_of(metrics.learning[i])));
  data["parameters"] = json_of(r.parameters);
  data["config"] = r.config;
  return page_with(report_html, data);
}

}  // namespace heed
