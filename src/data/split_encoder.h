// Text into the ids of a split, counting on the way what became <unk>.
#pragma once

#include <string_view>

#include "data/split.h"
#include "text/tokenizer.h"

namespace heed {

// Appends to `ids`, one of the split's sides.
inline void encode_text(std::string_view text, const Tokenizer& tokenizer, Split& split, Ids& ids) {
  bool unknown = false;
  tokenizer.scan(text, [&](const Token& t) {
    ids.push_back(t.id);
    unknown = unknown || t.id == Tokenizer::kUnk;
  });
  if (unknown) split.unknown += tokenizer.unknown(text);
}

}  // namespace heed
