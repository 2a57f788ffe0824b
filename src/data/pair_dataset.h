// Sentence pairs as data: two streams of ids. Paths of a config are relative to `folder`.
#pragma once

#include <string>

#include "data/corpus.h"
#include "data/dataset.h"

namespace heed {

Dataset load_pair_dataset(const RunConfig& config, const std::string& folder,
                          Tokenizers& tokenizers);

DataHash hash_pair_data(const RunConfig& config, const std::string& folder);

// Other pairs for a trained model.
Split load_pairs(const Pairs& pairs, const RunConfig& config, const Tokenizers& tokenizers);

// The held-out pairs of a config as text, in the order of Dataset::valid.
Pairs read_held_out_pairs(const RunConfig& config, const std::string& folder);

}  // namespace heed
