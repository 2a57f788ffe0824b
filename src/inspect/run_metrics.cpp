#include "inspect/run_metrics.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace heed {

using Json = nlohmann::ordered_json;

std::filesystem::path run_of_checkpoint(const std::filesystem::path& checkpoint) {
  return std::filesystem::weakly_canonical(checkpoint).parent_path().parent_path();
}

Json read_metrics(const std::filesystem::path& run, std::int64_t step) {
  Json events = Json::array();
  std::ifstream file(run / "metrics.jsonl");
  for (std::string line; std::getline(file, line);) {
    Json event = Json::parse(line, nullptr, false);
    if (!event.is_object() || !event.contains("kind") || !event.contains("step")) continue;
    if (!event["kind"].is_string() || !event["step"].is_number_integer()) continue;
    if (event["step"].get<std::int64_t>() <= step) events.push_back(std::move(event));
  }
  return events;
}

Json learning_records(const Json& metrics) {
  Json records = Json::array();
  for (const Json& event : metrics) {
    if (event["kind"] != "train" || !event.contains("learning")) continue;
    const Json& learning = event["learning"];
    if (!learning.contains("matrices") || !learning.contains("entropy")) continue;
    records.push_back({{"step", event["step"]},
                       {"matrices", learning["matrices"]},
                       {"entropy", learning["entropy"]}});
  }
  return records;
}

}  // namespace heed
