// The files that the section `data` of a config names.
#pragma once

#include <string>

#include "data/corpus.h"
#include "data/run_config.h"

namespace heed {

// How they are read.
ReadOptions read_options(const RunConfig& config);

// Error (data) on a pipe or a device: data is read more than once.
void refuse_pipe(const std::string& path);

// Path of the file that data.<key> names, relative to `folder`. Error (data) if it is missing, or
// is a pipe or a device.
std::string data_path(const std::string& folder, const std::string& key,
                      const std::string& written);

}  // namespace heed
