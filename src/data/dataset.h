// A corpus as token ids: the training part and the held-out part.
//
// A text is one stream of ids (text_dataset.cpp), pairs are two (pair_dataset.cpp). Loading reads
// the files in chunks, so it needs little memory beyond the ids. The vocabulary comes from the
// training part; char also knows the characters of the held-out part. File errors are Exit::data
// and name file and line.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/std_names.h"
#include "data/corpus.h"
#include "data/run_config.h"
#include "data/split.h"
#include "text/tokenizer.h"

namespace heed {

class TokenizerTrainer;

// SHA-256 of the text that was read.
struct DataHash {
  string data;         // of the files of data.train, source + target or pairs
  string valid;        // of separate held-out files; "" if none
  string all() const;  // of both: resuming requires the same
  bool operator==(const DataHash&) const = default;
};

struct Dataset : Notes {
  Split train, valid;
  vector<string> details;  // how it was read, as usual
  DataHash hash;
};

// Error (data) if the vocabulary, which comes from elsewhere (`from`), knows too little of the
// training part.
void refuse_foreign_vocabulary(const Dataset& data, const string& from);

// The files a config names, relative to `folder`. Empty `tokenizers` are trained, or read from
// tokenizer.file; others are used.
Dataset load_dataset(const RunConfig& config, const string& folder, Tokenizers& tokenizers);

// Another text (files and folders), or other pairs, `at_once` at a time, for a trained model.
Split load_text(const vector<string>& paths, const RunConfig& config, const Tokenizers& tokenizers);
Split load_pairs(const Pairs& pairs, const RunConfig& config, const Tokenizers& tokenizers,
                 size_t at_once = 1);

// The pairs of a config as text, among them those held out, which Split::lines finds.
Pairs written_pairs(const RunConfig& config, const string& folder);

// load_dataset() of a text and of pairs.
Dataset load_text_dataset(const RunConfig& config, const string& folder, Tokenizers& tokenizers);
Dataset load_pair_dataset(const RunConfig& config, const string& folder, Tokenizers& tokenizers);

// The tokenizer that a config describes: read from its file, or learnt from what show() adds. Adds
// a detail.
unique_ptr<Tokenizer> make_tokenizer(const RunConfig& config, const TokenizerConfig& own,
                                     const string& folder, Dataset& data,
                                     const function<void(TokenizerTrainer&)>& show);

// The files that the section `data` of a config names.

// How they are read.
ReadOptions read_options(const RunConfig& config);

// The paths of a config's data that do not lead to a file from `folder`.
vector<DataPath> missing_files(DataConfig& data, const string& folder);

}  // namespace heed
