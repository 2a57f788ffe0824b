#include "report/run_metrics.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "store/metrics_file.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;

bool is_number_or_null(const Json& x) {
  return x.is_number() || x.is_null();
}

bool is_matrix(const Json& m) {
  return m.is_object() &&
         std::ranges::all_of(std::initializer_list<const char*>{"gradient_norm", "weight_norm",
                                                                "update_ratio", "cosine"},
                             [&](const char* key) {
                               const auto found = m.find(key);
                               return found != m.end() && is_number_or_null(*found);
                             });
}

bool is_entropy(const Json& e) {
  if (!e.is_object() || !e.contains("uniform") || !e.contains("heads")) return false;
  const auto is_layer = [](const Json& layer) {
    return layer.is_array() && std::all_of(layer.begin(), layer.end(), is_number_or_null);
  };
  const Json& layers = e["heads"];
  return is_number_or_null(e["uniform"]) && layers.is_array() &&
         std::all_of(layers.begin(), layers.end(), is_layer);
}

// The record of an event, moved out of it, or null.
Json take_record(Json& event) {
  if (event["kind"] != "train" || !event.contains("learning")) return nullptr;
  Json learning = std::move(event["learning"]);
  event.erase("learning");
  if (!learning.is_object() || !learning.contains("matrices") || !learning.contains("entropy"))
    return nullptr;
  Json &matrices = learning["matrices"], &entropy = learning["entropy"];
  if (!matrices.is_object() || !std::all_of(matrices.begin(), matrices.end(), is_matrix))
    return nullptr;
  if (!entropy.is_object() || !std::all_of(entropy.begin(), entropy.end(), is_entropy))
    return nullptr;
  return {
      {"step", event["step"]}, {"matrices", std::move(matrices)}, {"entropy", std::move(entropy)}};
}

// Both well formed: the same matrices, kinds, layers and heads in the same order?
bool same_shape(const Json& a, const Json& b) {
  const auto names = [](const Json& object) {
    std::vector<std::string> all;
    for (const auto& [name, value] : object.items()) all.push_back(name);
    return all;
  };
  if (names(a["matrices"]) != names(b["matrices"]) || names(a["entropy"]) != names(b["entropy"]))
    return false;
  for (const auto& [kind, entropy] : a["entropy"].items()) {
    const Json &one = entropy["heads"], &other = b["entropy"][kind]["heads"];
    if (!std::equal(one.begin(), one.end(), other.begin(), other.end(),
                    [](const Json& x, const Json& y) { return x.size() == y.size(); }))
      return false;
  }
  return true;
}

}  // namespace

std::filesystem::path run_of_checkpoint(const std::filesystem::path& checkpoint) {
  return std::filesystem::weakly_canonical(checkpoint).parent_path().parent_path();
}

Json read_metrics(const std::filesystem::path& run, std::int64_t step) {
  Json events = Json::array();
  for_each_event(run, [&](Json& event) {
    if (event["step"] <= step) events.push_back(std::move(event));
  });
  return events;
}

Json take_learning_records(Json& metrics) {
  Json all = Json::array(), records = Json::array();
  for (Json& event : metrics)
    if (Json record = take_record(event); !record.is_null()) all.push_back(std::move(record));
  for (Json& record : all)
    if (&record == &all.back() || same_shape(record, all.back()))
      records.push_back(std::move(record));
  return records;
}

Json last_learning_record(const std::filesystem::path& run, std::int64_t step) {
  Json last, moving;
  for_each_event(run, [&](Json& event) {
    if (event["step"] > step) return;
    const bool moves = event.value("learning_rate", Json()) != 0.0;
    Json record = take_record(event);
    if (record.is_null()) return;
    last = record;
    if (moves) moving = std::move(record);
  });
  if (moving.is_null() || moving["step"] == last["step"] || !same_shape(moving, last)) return last;
  for (auto& [name, matrix] : last["matrices"].items())
    matrix["update_ratio"] = moving["matrices"][name]["update_ratio"];
  last["update_step"] = moving["step"];
  return last;
}

}  // namespace heed
