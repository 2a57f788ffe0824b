#include "evaluate/yardsticks_json.h"

#include <nlohmann/json.hpp>

#include "store/metrics_file.h"

namespace heed {

using Json = nlohmann::ordered_json;

Json json_of(const Yardsticks& yardsticks) {
  Json list = Json::array();
  for (const Yardstick& y : yardsticks)
    list.push_back({{"name", y.name},
                    {"nats_per_token", y.nats_per_token},
                    {"bits_per_byte", y.bits_per_byte ? Json(*y.bits_per_byte) : Json()}});
  return list;
}

std::string yardsticks_metrics(const Yardsticks& yardsticks) {
  return Json{{"kind", kYardsticksKind}, {"step", 0}, {"values", json_of(yardsticks)}}.dump();
}

Yardsticks yardsticks_of_event(const Json& event) try {
  Yardsticks yardsticks;
  if (event.at("kind") != kYardsticksKind) return yardsticks;
  for (const Json& value : event.at("values").get_ref<const Json::array_t&>()) {
    Yardstick& y = yardsticks.emplace_back();
    value.at("name").get_to(y.name);
    value.at("nats_per_token").get_to(y.nats_per_token);
    if (const Json& bits = value.at("bits_per_byte"); !bits.is_null())
      y.bits_per_byte = bits.get<double>();
  }
  return yardsticks;
} catch (const Json::exception&) {
  return {};
}

Yardsticks logged_yardsticks(const std::filesystem::path& run) {
  Yardsticks yardsticks;
  for_each_event(run, [&](const Json& event) {
    if (yardsticks.empty()) yardsticks = yardsticks_of_event(event);
  });
  return yardsticks;
}

}  // namespace heed
