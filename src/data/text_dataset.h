// A text as data: one stream of ids. Paths of a config are relative to `folder`.
#pragma once

#include <string>
#include <vector>

#include "data/dataset.h"

namespace heed {

Dataset load_text_dataset(const RunConfig& config, const std::string& folder,
                          Tokenizers& tokenizers);

DataHash hash_text_data(const RunConfig& config, const std::string& folder);

// Another text (files and folders) for a trained model.
Split load_text(const std::vector<std::string>& paths, const RunConfig& config,
                const Tokenizers& tokenizers);

}  // namespace heed
