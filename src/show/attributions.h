// What heed whence found, for its table and for the live page.
#pragma once

#include "base/files.h"
#include "base/input_file.h"
#include "base/json.h"
#include "base/std_names.h"
#include "store/run_folder.h"

namespace heed {

inline constexpr const char* kWhence = "whence";  // in a run: a file for what was asked at once

// Of the units: the most helpful, the most harmful, and those that were left out.
inline Json shown_units(const Json& units) {
  constexpr size_t kHelping = 10, kHarming = 5;
  Json rows = Json::array();
  for (size_t i = 0; i < units.size(); ++i)
    if (i < kHelping || i + kHarming >= units.size() || units[i].contains("retrained"))
      rows.push_back(units[i]);
  return rows;
}

// All that was found of a checkpoint: docs/formats.md, with the shown units.
inline Json attributions_of(const fs::path& checkpoint) {
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
