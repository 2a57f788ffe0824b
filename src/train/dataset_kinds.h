// The two kinds of data that dataset.h speaks of, each in its own file. Paths that a config names
// are relative to `folder`.
#pragma once

#include <string>

#include "train/dataset.h"

namespace heed {

// text_dataset.cpp
Dataset load_text_dataset(const RunConfig& config, const std::string& folder,
                          Tokenizers& tokenizers);
DataHash hash_text_dataset(const RunConfig& config, const std::string& folder);

// pair_dataset.cpp
Dataset load_pair_dataset(const RunConfig& config, const std::string& folder,
                          Tokenizers& tokenizers);
DataHash hash_pair_dataset(const RunConfig& config, const std::string& folder);

}  // namespace heed
