#include "show/comparison.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "data/run_config.h"
#include "show/loss_curves.h"
#include "store/best.h"
#include "store/layout.h"
#include "store/run_folder.h"

namespace heed {

namespace fs = std::filesystem;

ShortJson comparison(const std::vector<std::string>& runs) {
  ShortJson compared = ShortJson::array();
  std::vector<ConfigKeys> keys;
  for (const std::string& run : runs) {
    const fs::path folder = is_checkpoint(run) ? run_of_checkpoint(run) : fs::path(run);
    const auto best = best_checkpoint(folder);  // Error if it is no run
    keys.push_back(keys_of(load_config((folder / kConfigFile).string())));
    const LoggedEvents logged = read_events(folder);
    if (logged.train.empty() && logged.valid.empty())
      throw Error(Exit::store, fmt::format("{} has logged nothing yet.", quoted_path(folder)));
    compared.push_back({{"run", run},
                        {"best_step", best ? ShortJson(best->step) : ShortJson()},
                        {"best_loss", best ? ShortJson(best->valid_loss) : ShortJson()},
                        {"keys", ShortJson::object()}});
    compared.back().update(curves_json(logged));
  }
  std::vector<ConfigKeys*> all;
  for (ConfigKeys& some : keys) all.push_back(&some);
  keep_differences(all);
  for (std::size_t i = 0; i < keys.size(); ++i)
    for (const auto& [key, value] : keys[i]) compared[i]["keys"][key] = ShortJson(value);
  return compared;
}

}  // namespace heed
