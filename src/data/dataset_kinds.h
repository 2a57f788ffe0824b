// The two kinds of data that dataset.h speaks of, each in its own file. Paths that a config names
// are relative to `folder`.
#pragma once

#include <string>

#include "data/dataset.h"

namespace heed {

// Where the file is that data.<key> names. Error (data) if there is none, or on a pipe or a device:
// data is read more than once, and again on resuming.
std::string data_path(const std::string& folder, const std::string& key,
                      const std::string& written);

// text_dataset.cpp
Dataset load_text_dataset(const RunConfig& config, const std::string& folder,
                          Tokenizers& tokenizers);
DataHash hash_text_dataset(const RunConfig& config, const std::string& folder);

// pair_dataset.cpp
Dataset load_pair_dataset(const RunConfig& config, const std::string& folder,
                          Tokenizers& tokenizers);
DataHash hash_pair_dataset(const RunConfig& config, const std::string& folder);

}  // namespace heed
