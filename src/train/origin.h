// origin.json of a run: where it comes from. The folder that the data's relative paths start from,
// what the data was, and the command line.
#pragma once

#include <string>

#include "train/dataset.h"

namespace heed {

std::string origin_json(const std::string& folder, const DataHash& hash,
                        const std::string& command);

// The folder that a run's or checkpoint's relative data paths start from, or "" if it is not known.
// Error (store) on a damaged file.
std::string data_folder(const std::string& run);

}  // namespace heed
