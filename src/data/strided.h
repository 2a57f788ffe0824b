// Overlapping windows over a text for a decoder-only model: every token is scored once, with more
// context than non-overlapping tiles give it.
#pragma once

#include "data/examples.h"

namespace heed {

// Windows of at most `length` labels begin every `stride` tokens (1 <= stride <= length); each
// scores what earlier ones have not, so all but the first tokens see at least length - stride
// before them.
struct StridedText {
  const Split& split;
  int length, stride;

  std::int64_t count() const;
  void make(std::int64_t index, Example& out) const;
};

}  // namespace heed
