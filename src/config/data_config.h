// The data of a run: the section `data` of a config. Plain values; paths as written, relative to
// the folder of the config file. A config has one of train, source + target, pairs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/fields.h"

namespace heed {

// A normalisation form of Unicode (UAX #15).
enum class Normalize { none, nfc, nfkc };

struct DataConfig {
  PathList train;      // text: files and folders
  std::string source;  // parallel lines
  std::string target;
  std::string pairs;  // source <tab> target
  PathList valid;
  std::string valid_source;
  std::string valid_target;
  std::string valid_pairs;
  double valid_fraction = 0.1;  // the end of the data, if there is no valid file
  std::int64_t limit = 0;       // bytes of text, or pairs, to train on; 0: all
  Normalize normalize = Normalize::none;
  bool lowercase = false;
  int max_length = 256;  // tokens of one side of a pair; longer pairs are dropped

  bool changes_text() const { return lowercase || normalize != Normalize::none; }
  bool has_pairs() const { return train.empty(); }
  bool has_valid_files() const {
    return !valid.empty() || !valid_source.empty() || !valid_target.empty() || !valid_pairs.empty();
  }
  bool has_validation() const { return has_valid_files() || valid_fraction > 0; }
};

std::vector<Field> fields(DataConfig& c);

}  // namespace heed
