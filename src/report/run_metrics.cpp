#include "report/run_metrics.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "evaluate/yardsticks.h"
#include "store/metrics_file.h"
#include "train/learning_record.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;

void add(Curves& curves, std::vector<LossPoint>& losses, const Json& event,
         std::initializer_list<const char*> names) {
  curves.steps.push_back(event["step"].get<std::int64_t>());
  if (const Json loss = event.value("loss", Json()); loss.is_number())
    losses.push_back({curves.steps.back(), loss.get<double>()});
  for (const char* name : names) {
    const Json x = event.value(name, Json());
    curves.numbers[name].push_back(x.is_number() ? x.get<float>()
                                                 : std::numeric_limits<float>::quiet_NaN());
  }
}

// Do both have the same matrices, kinds, layers and heads in the same order?
bool same_shape(const Learning& a, const Learning& b) {
  const auto same_heads = [](const KindEntropy& x, const KindEntropy& y) {
    return x.kind == y.kind &&
           std::ranges::equal(x.heads, y.heads, {}, std::ranges::size, std::ranges::size);
  };
  return std::ranges::equal(a.matrices, b.matrices, {}, &MatrixLearning::name,
                            &MatrixLearning::name) &&
         std::ranges::equal(a.entropy, b.entropy, same_heads);
}

}  // namespace

Json json_of(const LearningStep& record) {
  Json json{{"step", record.step}};
  json.update(json_of(record.learning));
  return json;
}

RunMetrics read_metrics(const std::filesystem::path& run, std::int64_t step) {
  RunMetrics m;
  for_each_event(run, [&](Json& event) {
    if (event["step"] > step) return;
    if (m.yardsticks.empty()) m.yardsticks = yardsticks_of_event(event);
    if (event["kind"] == "valid")
      add(m.valid, m.losses.held_out, event, {"loss", "accuracy", "bleu"});
    if (event["kind"] != "train") return;
    add(m.train, m.losses.train, event,
        {"loss", "learning_rate", "gradient_norm", "tokens_per_second"});
    if (auto learning = learning_from_json(event.value("learning", Json())))
      m.learning.push_back({m.train.steps.back(), event.value("learning_rate", Json()) != 0.0,
                            std::move(*learning)});
  });
  if (m.learning.empty()) return m;
  const Learning last = m.learning.back().learning;
  std::erase_if(m.learning, [&](const LearningStep& x) { return !same_shape(x.learning, last); });
  return m;
}

}  // namespace heed
