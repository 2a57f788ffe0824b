#include "config/data_config.h"

namespace heed {

// Paths may change on resume, because files move; a hash covers the content.
std::vector<Field> fields(DataConfig& c) {
  constexpr auto kMoved = OnResume::allowed;
  return {
      {"train", &c.train,
       "text to train on: a file, a folder (the files directly in it, by name) or a list of these; "
       "each file ends with a newline, added if it is missing; here and everywhere, gzip and xz "
       "are "
       "unpacked, and a byte order mark at the start is dropped",
       kAny, kMoved},
      {"source", &c.source, "source sentences, one per line (with `target`)", kAny, kMoved},
      {"target", &c.target, "target sentences, in the order of `source`", kAny, kMoved},
      {"pairs", &c.pairs,
       "pairs, one per line: source, tab, target; pairs with an empty side are left out and "
       "counted",
       kAny, kMoved},
      {"valid", &c.valid, "held-out text, like `train`", kAny, kMoved},
      {"valid_source", &c.valid_source, "held-out source sentences", kAny, kMoved},
      {"valid_target", &c.valid_target, "held-out target sentences", kAny, kMoved},
      {"valid_pairs", &c.valid_pairs, "held-out pairs", kAny, kMoved},
      {"valid_fraction", &c.valid_fraction,
       "without a held-out file: hold out this share at the end of the data, from the "
       "next line on, or the next white space if the line goes on for 1,000 bytes; 0 = nothing",
       kFraction, OnResume::refused, "0.1; 0 if a held-out file is given"},
      {"limit", &c.limit,
       "train only on this much from the start of the data: bytes of text, to the end of "
       "the line as for valid_fraction, or pairs; 0 = all; the held-out part does not depend on it",
       between(0, 1e12)},
      {"normalize", choice(c.normalize, {"none", "nfc", "nfkc"}),
       "normalise all text (Unicode): nfc: one form for each character; nfkc: also for ligatures, "
       "full-width letters and the like"},
      {"lowercase", &c.lowercase, "convert all text to lower case"},
      {"max_length", &c.max_length,
       "pairs with more tokens than this on one side are dropped and counted",
       between(1, 1'000'000)},
  };
}

}  // namespace heed
