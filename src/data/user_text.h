// The texts given to a command, as a model reads them: normalised and lower-cased if its data was,
// as ids, with their length checked. "[MASK]" and the names of further special tokens stand
// for tokens.
//
// Pieces of words (bpe, unigram) begin with the space before the word. So the space that ends a
// text which goes on is read with what follows it: a lone one is a token that training has not seen
// there.
//
// Anything unknown is read as <unk>, and counted. Errors are Exit::data and name the text by `name`
// ("the text", "a.txt:3"): invalid UTF-8, nothing that is known, more than the model reads.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/std_names.h"
#include "data/objective.h"
#include "text/tokenizer.h"

namespace heed {

// A text as read, and its tokens.
struct TokenizedText {
  string text;
  vector<Token> tokens = {};
  TokenIds ids() const { return mapped(tokens, &Token::id); }
  bool before_space = false;  // a space that is in no token follows
  TokenIds not_next = {};     // the ids that do not begin with it
};

// What a user gives a command.
struct GivenText {
  string text;              // "" if only a target is given
  optional<string> target;  // what belongs to it
  string name;              // for messages: "the text", "a.txt:3"
  bool is_line = false;     // of a file or standard input
};

// A text to look into, as the model reads it. [begin, end): the bytes of each token; a frame has
// none.
struct ReadText {
  Example read = {};  // framed; without a target the model is to write it
  vector<array<size_t, 2>> source_bytes = {}, target_bytes = {};
  TokenIds prompt = {};    // the source without its frame
  TokenIds not_next = {};  // as in TokenizedText
  string words = {};       // of a target, for the masks of an encoder alone
};

// What a word may be as one token of a text: with or without a space before it, or as it is shown.
// Error (usage, naming `option`) if it is none, or several.
TokenIds one_token(const string& word, const string& option, const Tokenizer& tokenizer);

class UserTexts {
 public:
  // References must outlive it.
  UserTexts(const Objective& objective, const RunConfig& config, const Tokenizers& tokenizers,
            Log& log)
      : objective_(objective), config_(config), tokenizers_(tokenizers), log_(log) {}

  // A text read like the model's data, except for the names of special tokens.
  string normalized(Side side, string_view text, const string& name) const;

  // A text to answer; it may be empty.
  TokenizedText prompt(const string& text);
  // What each half of the model reads of a text to look into, with the errors of inspected().
  // Error (usage) if a target lacks its text.
  ReadText read(const GivenText& asked, bool cut);
  // A line to score: its target, given the text; else the text, which for pairs is "source |||
  // target" or a line of a table. Lengths are not checked. Error (usage or data) if one of them is
  // missing or not for this model.
  ScoredLine scored(const GivenText& asked);
  // A text on one side of a model under inspection. On text_side() it must not be empty, unless it
  // `is_line` of a file. `cut`: of a text that is too long, the beginning is read, and a warning
  // says so.
  TokenizedText inspected(Side side, const string& text, const string& name, bool is_line,
                          bool cut = false);
  // The tokens of a text, of which nothing need be known.
  TokenizedText tokenized(Side side, const string& text, const string& name) {
    return encode(side, text, name, unknown_);
  }
  // A line, normalised. Names of special tokens are ordinary text here, as in the data.
  TokenIds line(Side side, string_view line, const string& name);
  // Logs what was read as <unk> since the last call.
  void say_unknown() {
    const Unknown unknown = exchange(unknown_, {});
    if (unknown.count > 0) log_.info("read as <unk>: " + unknown.summary());
  }
  // Objective::fit(). Warns once.
  void check_length(Side side, size_t ids, const string& name, size_t at_once = 1) {
    warn(objective_.fit(side, ids, name, at_once));
  }

 private:
  const Tokenizer& tokenizer(Side side) const {
    return side == Side::source ? tokenizers_.source() : *tokenizers_.target;
  }
  // Does `text` end in a space that is read with what follows?
  bool ends_before_word(Side side, string_view text) const;
  // Puts such a space before the target.
  GivenText parted(GivenText given) const;
  TokenizedText encode(Side side, const string& text, const string& name, Unknown& unknown) const;
  TokenizedText encode_known(Side side, const string& text, const string& name);
  // Counts what is unknown in a text of so many tokens; Error if nothing else is there.
  void count(const Unknown& unknown, size_t tokens, const string& name);
  void warn(const string& what) {
    if (!what.empty() && !exchange(warned_, true)) log_.warn(what);
  }

  const Objective& objective_;
  const RunConfig& config_;
  const Tokenizers& tokenizers_;
  Log& log_;
  Unknown unknown_;
  bool warned_ = false;
};

}  // namespace heed
