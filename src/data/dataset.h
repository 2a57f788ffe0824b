// A corpus as token ids: what is trained on and what is held out.
//
// Text or pairs, each in a file of its own (text_dataset, pair_dataset). Loading reads the files in
// chunks, so besides the ids it needs little memory. The vocabulary comes from the
// training part alone. Errors of files are Exit::data and name file and line.
#pragma once

#include <string>
#include <vector>

#include "data/run_config.h"
#include "data/split.h"
#include "text/tokenizers.h"

namespace heed {

// SHA-256 of the text that was read.
struct DataHash {
  std::string data;         // of what data.train, source + target or pairs name
  std::string valid;        // of held-out files of their own; "" without
  std::string all() const;  // of both: a run is resumed with the same only
  bool operator==(const DataHash&) const = default;
};

struct Dataset {
  Split train, valid;
  DataHash hash;
  std::vector<std::string> notes;  // for the log
};

// The files a config names, relative to `folder`. Empty `tokenizers` are trained, or read from
// tokenizer.file; others are used.
Dataset load_dataset(const RunConfig& config, const std::string& folder, Tokenizers& tokenizers);

// What load_dataset() would give as the hash, without the ids.
DataHash hash_data(const RunConfig& config, const std::string& folder);

}  // namespace heed
