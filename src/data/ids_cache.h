// The ids of a subword corpus beside the run, RUN/ids.bin, so that resuming need not tokenise
// again. Only a convenience: a file that is missing, damaged or of other data is not used, and said
// to be.
//
// Layout: 64 bytes key (SHA-256 of text, tokenizer and the data keys of the config), the splits,
// 64 bytes SHA-256 of everything before.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/log.h"
#include "data/dataset.h"

namespace heed {

std::string ids_cache_key(const std::string& data_hash, const RunConfig& config,
                          const Tokenizers& tokenizers);

// Failing to write is the caller's to report; the run goes on without.
void save_ids(const std::filesystem::path& path, const std::string& key, const Dataset& data);

// Nothing if the file is not whole or has another key.
std::optional<Dataset> load_ids(const std::filesystem::path& path, const std::string& key,
                                const Tokenizers& tokenizers);

// After loading the data of a new run; failing to write is a warning, the run goes on without.
void keep_ids(const std::filesystem::path& run, const RunConfig& config, const Dataset& data,
              const Tokenizers& tokenizers, Log& log);
// load_dataset(), or what keep_ids() left if the data is still the same.
Dataset load_kept_dataset(const RunConfig& config, const std::filesystem::path& run,
                          const std::string& folder, Tokenizers& tokenizers, Log& log);

}  // namespace heed
