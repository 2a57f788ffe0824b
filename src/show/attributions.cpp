#include "show/attributions.h"

#include "base/files.h"
#include "base/input_file.h"
#include "store/run_folder.h"

namespace heed {

Json shown_units(const Json& units) {
  constexpr size_t kHelping = 10, kHarming = 5;
  Json rows = Json::array();
  for (size_t i = 0; i < units.size(); ++i)
    if (i < kHelping || i + kHarming >= units.size() || units[i].contains("retrained"))
      rows.push_back(units[i]);
  return rows;
}

Json attributions_of(const fs::path& checkpoint) {
  Json all = Json::array();
  const fs::path folder = run_of_checkpoint(checkpoint) / kWhence;
  for (const string& name : readable_names(folder)) {
    Json found = parse_strict_json(read_file(folder / name, 1u << 30), {name});
    if (found["checkpoint"] != checkpoint_name(checkpoint) || !found.contains("questions"))
      continue;
    found["units"] = shown_units(found["units"]);
    all.push_back(std::move(found));
  }
  return all;
}

}  // namespace heed
