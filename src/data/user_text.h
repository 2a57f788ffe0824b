// The texts given to a command, as a model reads them: normalised and lower-cased if its data was,
// as ids, with their length checked. "[MASK]" and the names of further special tokens stand
// for tokens.
//
// Errors are Exit::data and name the text by `name` ("the text", "line 3"): invalid UTF-8,
// unknown characters (listed), a text longer than the model reads.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "data/objective.h"
#include "text/tokenizers.h"

namespace heed {

// A text as read, and its tokens.
struct TokenizedText {
  std::string text;
  std::vector<Token> tokens;
  TokenIds ids() const;
};

// A text to look into, as the model reads it.
struct ReadText {
  Example read = {};                              // framed; no target: the model writes it
  ByteRanges source_bytes = {}, target_bytes = {};  // of the tokens; a frame has empty ones
  TokenIds prompt = {};                           // the source without its frame
  std::string words = {};                         // for the masks of an encoder alone
};

class UserTexts {
 public:
  // References must outlive it.
  UserTexts(const Objective& objective, const RunConfig& config, const Tokenizers& tokenizers,
            Log& log)
      : objective_(objective), config_(config), tokenizers_(tokenizers), log_(log) {}

  // A text read like the model's data, except for the names of special tokens.
  std::string normalized(Side side, std::string_view text, const std::string& name) const;

  // A text to answer. No unknown tokens; it may be empty.
  TokenIds prompt(const std::string& text);
  // As Objective::read() and inspected() say.
  ReadText read(const GivenText& given, bool cut);
  // A line as Objective::scored() takes it apart; anything unknown is read as <unk>. Its length is
  // not checked.
  ScoredLine scored(const GivenText& given);
  // A text on one side of a model under inspection. No unknown tokens, and on text_side() it must
  // not be empty; `is_line`: a line of a file, for which neither is required. `cut`: of a text that
  // is too long, the beginning is read, and a warning says so.
  TokenizedText inspected(Side side, const std::string& text, const std::string& name, bool is_line,
                          bool cut = false);
  // The tokens of a text. Here and in a line, anything unknown is read as <unk>.
  TokenizedText tokenized(Side side, const std::string& text, const std::string& name) {
    return encode(side, text, name, unknown_);
  }
  // A line, normalised. Names of special tokens are ordinary text here, as in the data.
  TokenIds line(Side side, std::string_view line);
  // What was read as <unk> since the last call.
  Unknown take_unknown() { return std::exchange(unknown_, {}); }
  // Objective::fit(). Warns once.
  void check_length(Side side, std::size_t ids, const std::string& name) {
    warn(objective_.fit(side, ids, name));
  }

 private:
  const Tokenizer& tokenizer(Side side) const {
    return side == Side::source ? tokenizers_.source() : *tokenizers_.target;
  }
  TokenizedText encode(Side side, const std::string& text, const std::string& name,
                       Unknown& unknown) const;
  TokenizedText encode_known(Side side, const std::string& text, const std::string& name) const;
  void warn(const std::string& what);

  const Objective& objective_;
  const RunConfig& config_;
  const Tokenizers& tokenizers_;
  Log& log_;
  Unknown unknown_;
  bool warned_ = false;
};

}  // namespace heed
