// Text into the ids of a split, counting on the way what became <unk>.
#pragma once

#include <string_view>

#include "data/split.h"

namespace heed {

class SplitEncoder {
 public:
  // Both must outlive it.
  SplitEncoder(const Tokenizer& tokenizer, Split& split) : tokenizer_(tokenizer), split_(split) {}

  // Appends to `ids`, one of the split's sides.
  void encode(std::string_view text, Ids& ids) {
    bool unknown = false;
    tokenizer_.scan(text, [&](const Token& t) {
      ids.push_back(t.id);
      unknown = unknown || t.id == Tokenizer::kUnk;
    });
    if (unknown) split_.unknown += tokenizer_.unknown(text);
  }

 private:
  const Tokenizer& tokenizer_;
  Split& split_;
};

}  // namespace heed
