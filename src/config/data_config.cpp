#include "config/data_config.h"

namespace heed {

// Paths may change on resume, because files move: a hash compares the content.
std::vector<Field> fields(DataConfig& c) {
  constexpr auto kMoved = OnResume::allowed;
  return {
      {"train", &c.train, "text to train on: a file or a list of files", kAny, kMoved},
      {"source", &c.source, "source sentences, one per line (with `target`)", kAny, kMoved},
      {"target", &c.target, "target sentences, line by line as in `source`", kAny, kMoved},
      {"pairs", &c.pairs, "pairs, one per line: source, tab, target", kAny, kMoved},
      {"valid", &c.valid, "held-out text: a file or a list of files", kAny, kMoved},
      {"valid_source", &c.valid_source, "held-out source sentences", kAny, kMoved},
      {"valid_target", &c.valid_target, "held-out target sentences", kAny, kMoved},
      {"valid_pairs", &c.valid_pairs, "held-out pairs", kAny, kMoved},
      {"valid_fraction", &c.valid_fraction,
       "without a held-out file: hold out this share at the end of the data; 0 = nothing",
       kFraction, OnResume::refused, "0.1; 0 if a held-out file is given"},
      {"lowercase", &c.lowercase, "convert all text to lower case"},
      {"max_length", &c.max_length,
       "pairs with more tokens than this on one side are dropped and counted",
       between(1, 1'000'000)},
  };
}

}  // namespace heed
