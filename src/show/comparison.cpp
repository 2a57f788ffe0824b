#include "show/comparison.h"

#include <fmt/core.h>

#include "base/error.h"
#include "base/files.h"
#include "store/best.h"
#include "store/layout.h"
#include "store/open_checkpoint.h"
#include "store/run_folder.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

ShortJson json_of(const ComparedRun& r) {
  ShortJson json{{"run", r.run},
                 {"best_step", r.best ? ShortJson(r.best->step) : ShortJson()},
                 {"best_loss", r.best ? ShortJson(r.best->valid_loss) : ShortJson()},
                 {"keys", ShortJson::object()}};
  for (const auto& [key, value] : r.keys) json["keys"][key] = ShortJson(value);
  json.update(json_of(r.curves));
  return json;
}

}  // namespace

std::vector<ComparedRun> compare(const std::vector<std::string>& runs) {
  std::vector<ComparedRun> compared;
  std::vector<ConfigKeys*> keys;
  for (const std::string& run : runs) {
    const fs::path folder = is_checkpoint(run) ? run_of_checkpoint(run) : fs::path(run);
    ComparedRun& r = compared.emplace_back();
    r.run = run;
    newest_checkpoint(folder);  // Error if it is no run
    r.keys = keys_of(load_config((folder / kConfigFile).string()));
    r.best = best_checkpoint(folder);
    for_each_event(folder, [&](const auto& line) { r.curves.take(line); });
    if (r.curves.train.empty() && r.curves.held_out.empty())
      throw Error(Exit::store, fmt::format("{} has logged nothing yet.", quoted_path(folder)));
  }
  for (ComparedRun& r : compared) keys.push_back(&r.keys);
  keep_differences(keys);
  return compared;
}

std::string comparison_page(const std::vector<ComparedRun>& runs) {
  ShortJson data = ShortJson::array();
  for (const ComparedRun& r : runs) data.push_back(json_of(r));
  return page_with(comparison_html, data);
}

std::string comparison_json(const std::vector<ComparedRun>& runs) {
  std::string lines;
  for (const ComparedRun& r : runs) lines += text_of(json_of(r)) + "\n";
  return lines;
}

}  // namespace heed
