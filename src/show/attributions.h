// What heed whence found, for its table and for the live page.
#pragma once

#include <filesystem>

#include "base/json.h"
#include "base/std_names.h"

namespace heed {

inline constexpr const char* kWhence = "whence";  // in a run: a file for what was asked at once

// Of the units: the most helpful, the most harmful, and those that were left out.
Json shown_units(const Json& units);
// All that was found of a checkpoint: docs/formats.md, with the shown units.
Json attributions_of(const fs::path& checkpoint);

}  // namespace heed
