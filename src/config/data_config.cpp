#include "config/data_config.h"

namespace heed {

// Paths may change on resuming because files move: the content is compared by its hash.
std::vector<Field> fields(DataConfig& c) {
  constexpr auto kMoved = OnResume::allowed;
  return {
      {"train", &c.train, "text to train on: a file or a list of files", kAny, kMoved},
      {"source", &c.source, "source sentences, one a line (with `target`)", kAny, kMoved},
      {"target", &c.target, "target sentences, line by line those of `source`", kAny, kMoved},
      {"pairs", &c.pairs, "pairs, one a line: source, tab, target", kAny, kMoved},
      {"valid", &c.valid, "held-out text: a file or a list of files", kAny, kMoved},
      {"valid_source", &c.valid_source, "held-out source sentences", kAny, kMoved},
      {"valid_target", &c.valid_target, "held-out target sentences", kAny, kMoved},
      {"valid_pairs", &c.valid_pairs, "held-out pairs", kAny, kMoved},
      {"valid_fraction", &c.valid_fraction,
       "without a held-out file: this much of the end of the data is held out; 0 = nothing",
       kFraction, OnResume::refused, "0.1; 0 where a held-out file is given"},
      {"lowercase", &c.lowercase, "turn all text into lower case"},
      {"max_length",
       &c.max_length,
       "pairs: those with more tokens than this on a side are dropped, and counted",
       {1, 1'000'000}},
  };
}

}  // namespace heed
