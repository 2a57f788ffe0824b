// One part of a corpus as token ids: for training, or held out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/std_names.h"
#include "text/tokenizer.h"

namespace heed {

// Token ids, in 16 bits where the vocabulary allows.
class Ids {
 public:
  explicit Ids(int vocab = 1) : vocab_(vocab), wide_(vocab > 65536) {}

  int vocab() const { return vocab_; }  // all ids are below it

  void push_back(int id) {
    if (size() == capacity()) reserve(max<size_t>(1 << 10, size() + size() / 2));
    wide_ ? long_.push_back(id) : short_.push_back(id);
  }
  // Room for n ids, so that growing never holds two copies. Room that stays unused costs nothing.
  // Error (memory) if all of them would not fit.
  void reserve(size_t n);
  size_t size() const { return wide_ ? long_.size() : short_.size(); }
  int operator[](size_t i) const { return wide_ ? int(long_[i]) : int(short_[i]); }
  // Appends ids [begin, end) to `to`.
  void copy(size_t begin, size_t end, vector<int>& to) const {
    for (size_t i = begin; i < end; ++i) to.push_back((*this)[i]);
  }
  void truncate(size_t n) { wide_ ? long_.resize(n) : short_.resize(n); }
  // Calls see() with the vector that holds them.
  template <class See>
  void visit(See&& see) {
    wide_ ? see(long_) : see(short_);
  }
  int bytes_per_id() const { return wide_ ? 4 : 2; }

 private:
  size_t capacity() const { return wide_ ? long_.capacity() : short_.capacity(); }

  int vocab_;
  bool wide_;
  vector<uint16_t> short_;
  vector<uint32_t> long_;
};

enum class Side { source, target };

// Of the lines of a text, or of pairs: a 64-bit hash of each line of at least 40 characters, or
// of each pair, without white space at the ends: a copy may be indented.
struct LineFacts {
  void add(string_view text);  // the next part of a text, cut between lines
  void add(string_view source, string_view target);

  bool pairs = false;
  vector<uint64_t> hashes;
};

// Text is one stream, `target`, whichever half of the model will read it; pairs are two, with the
// place of each sentence.
struct Split : Notes {  // on the text
  Split() = default;
  Split(int source_vocab, int target_vocab) : source(source_vocab), target(target_vocab) {}
  Ids source, target;
  vector<uint64_t> source_begin, target_begin;  // pairs: sentence i is [i], [i + 1)
  uint64_t target_bytes = 0;  // UTF-8 bytes of the target text, one newline per sentence
  bool lossy = false;    // the tokens do not give back the files' text: bytes were not predicted
  uint64_t dropped = 0;  // pairs that are too long
  Unknown unknown;       // what became <unk>, both sides
  LineFacts facts;       // of its lines, or of all pairs that were read
  vector<size_t> lines;  // pairs: where each is written

  bool pairs() const { return !target_begin.empty(); }
  size_t sentences() const { return pairs() ? target_begin.size() - 1 : 0; }
  // Tokens of the longest sentence of a side, without <s> and </s>; 0 for a text.
  int64_t longest(Side side) const {
    const auto& begin = side == Side::source ? source_begin : target_begin;
    uint64_t most = 0;
    for (size_t i = 0; i < sentences(); ++i) most = max(most, begin[i + 1] - begin[i]);
    return most;
  }
  vector<int> sentence(Side side, int64_t i) const {
    vector<int> ids;
    side == Side::source ? source.copy(source_begin[i], source_begin[i + 1], ids)
                         : target.copy(target_begin[i], target_begin[i + 1], ids);
    return ids;
  }
};

// How many of the held-out hashes the training data has too.
int64_t common(const LineFacts& train, const LineFacts& held_out);
// "3 of 40 held-out pairs are in the training data", or "".
string leaks(const LineFacts& train, const LineFacts& held_out);

// How often each id is in a split, of pairs perhaps on one side alone.
vector<int64_t> counts_of(const Split& split, optional<Side> side = {});

// Encodes a text, part after part, and notices where its tokens do not give it back.
class TextToIds {
 public:
  // `mid_text`: it begins in the middle of a line, perhaps with the space before a word. (So it
  // does after <unk>.)
  explicit TextToIds(const Tokenizer& tokenizer, bool mid_text = false)
      : tokenizer_(tokenizer), mid_text_(mid_text) {}

  // Appends the part's ids to `ids`, one of the split's sides, and counts what became <unk>.
  void take(string_view part, Split& split, Ids& ids);
  bool exact() const { return same_ && between_.empty(); }  // the known tokens have given back all

 private:
  const Tokenizer& tokenizer_;
  bool mid_text_;
  int previous_ = -1;
  string between_;    // the text since the last token
  bool same_ = true;  // so far
};

}  // namespace heed
