// A corpus as token ids: what is trained on and what is held out.
//
// Text is one stream of ids; pairs are two streams with the place of each sentence. Loading reads
// the files in chunks, so besides the ids it needs little memory. The vocabulary comes from the
// training part alone. Errors of files are Exit::data and name file and line.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/corpus.h"
#include "data/ids.h"
#include "data/run_config.h"
#include "text/tokenizers.h"

namespace heed {

// One part of the data. Text uses `target` alone.
struct Split {
  Split() = default;
  Split(int source_vocab, int target_vocab) : source(source_vocab), target(target_vocab) {}
  Ids source, target;
  std::vector<std::uint64_t> source_begin, target_begin;  // pairs: sentence i is [i], [i + 1)
  std::uint64_t target_bytes = 0;  // UTF-8 bytes of the target text, one newline per sentence
  bool lossy = false;              // <unk> or lower-casing: bytes are not what was predicted
  std::uint64_t dropped = 0;       // pairs longer than data.max_length
  Unknown unknown;                 // what became <unk>, both sides

  bool pairs() const { return !target_begin.empty(); }
  std::size_t sentences() const { return pairs() ? target_begin.size() - 1 : 0; }
};

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

// How the files that a config names are read.
ReadOptions read_options(const RunConfig& config);

// The files a config names, relative to `folder`. Empty `tokenizers` are trained, else used.
Dataset load_dataset(const RunConfig& config, const std::string& folder, Tokenizers& tokenizers);

// Other data for a trained model: a text, or parallel lines.
Split load_text(const std::vector<std::string>& paths, const RunConfig& config,
                const Tokenizers& tokenizers);
Split load_pairs(const Pairs& pairs, const RunConfig& config, const Tokenizers& tokenizers);

// The pairs that a config names, a held-out tail included, and its held-out files of their own.
Pairs read_training_pairs(const RunConfig& config, const std::string& folder);
Pairs read_valid_pairs(const RunConfig& config, const std::string& folder);

// Of the text that load_dataset would read: has the data changed?
DataHash hash_dataset(const RunConfig& config, const std::string& folder);

}  // namespace heed
