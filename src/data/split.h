// One part of a corpus as token ids: for training, or held out.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "data/ids.h"
#include "text/tokenizer.h"

namespace heed {

// Text is one stream, `target`; pairs are two, with the place of each sentence.
struct Split {
  Split() = default;
  Split(int source_vocab, int target_vocab) : source(source_vocab), target(target_vocab) {}
  Ids source, target;
  std::vector<std::uint64_t> source_begin, target_begin;  // pairs: sentence i is [i], [i + 1)
  std::uint64_t target_bytes = 0;  // UTF-8 bytes of the target text, one newline per sentence
  bool lossy = false;              // <unk> or changed text: bytes are not what was predicted
  std::uint64_t dropped = 0;       // pairs longer than data.max_length
  Unknown unknown;                 // what became <unk>, both sides

  bool pairs() const { return !target_begin.empty(); }
  std::size_t sentences() const { return pairs() ? target_begin.size() - 1 : 0; }
};

// Appends to `ids`, one of the split's sides, and counts what became <unk>.
inline void encode_text(std::string_view text, const Tokenizer& tokenizer, Split& split, Ids& ids) {
  bool unknown = false;
  tokenizer.scan(text, [&](const Token& t) {
    ids.push_back(t.id);
    unknown = unknown || t.id == Tokenizer::kUnk;
  });
  if (unknown) split.unknown += tokenizer.unknown(text);
}

}  // namespace heed
