#include "data/config_differences.h"

#include "base/format.h"

namespace heed {

ConfigKeys keys_of(const RunConfig& config) {
  ConfigKeys keys;
  const auto flat = nlohmann::ordered_json::parse(dump_config(config)).flatten();
  for (const auto& [pointer, value] : flat.items())
    keys[replace_all(pointer.substr(1), "/", ".")] = value;
  return keys;
}

void keep_differences(const std::vector<ConfigKeys*>& configs) {
  std::map<std::string, std::map<std::string, int>> values;  // key -> value -> how many have it
  int readable = 0;
  for (const ConfigKeys* keys : configs) {
    readable += !keys->empty();
    for (const auto& [key, value] : *keys) ++values[key][value.dump()];
  }
  for (ConfigKeys* keys : configs)
    std::erase_if(*keys, [&](const auto& entry) {
      return values[entry.first][entry.second.dump()] == readable;
    });
}

}  // namespace heed
