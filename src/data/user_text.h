// The texts that a command is given, as a model reads them: normalised and lower-cased if its data
// was, in ids, and checked for their length. "[MASK]" and the names of further special tokens stand
// for tokens.
//
// Errors are Exit::data and name the text by `name` ("the text", "line 3"): invalid UTF-8,
// unknown characters (they are listed), a text that is longer than the model reads.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "data/objective.h"
#include "text/tokenizers.h"

namespace heed {

// A text as it is read, and its tokens.
struct TokenizedText {
  std::string text;
  std::vector<Token> tokens;
  TokenIds ids() const;
};

class UserTexts {
 public:
  // References must outlive it.
  UserTexts(const Objective& objective, const RunConfig& config, const Tokenizers& tokenizers,
            Log& log)
      : objective_(objective), config_(config), tokenizers_(tokenizers), log_(log) {}

  // A text as the model's data was read, but for the names of special tokens.
  std::string normalized(Side side, std::string_view text, const std::string& name) const;

  // A text to be answered. Everything must be known; it may be empty.
  TokenIds prompt(const std::string& text);
  // A text on one side of a model that is looked into. Everything must be known, and what stands on
  // text_side() must not be empty; `is_line`: neither is asked of a line of a file.
  TokenizedText inspected(Side side, const std::string& text, const std::string& name,
                          bool is_line);
  // What the tokenizer makes of a text. Here and in a line, what is unknown is read as <unk>.
  TokenizedText tokenized(Side side, const std::string& text, const std::string& name) {
    return encode(side, text, name, unknown_);
  }
  // A line, normalized. Names of special tokens are ordinary text in it, as in the data.
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
