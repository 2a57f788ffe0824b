// Turns tokens into text as they arrive: never half a character, never part of a stop string.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace heed {

class TextStream {
 public:
  // `previous`: the token before the text, or -1. Empty stop strings are ignored. `after_space`:
  // the space of the first word has been shown.
  TextStream(const Tokenizer& tokenizer, int previous, std::vector<std::string> stops = {},
             bool after_space = false);

  // Adds a token; returns what can be shown now: valid UTF-8, with invalid bytes as U+FFFD.
  std::string push(int id);
  // A stop string has appeared: the text ends before it.
  bool stopped() const { return stopped_; }
  // The rest of the text, after the last token.
  std::string finish();

 private:
  std::string show_to(std::size_t end);

  const Tokenizer& tokenizer_;
  int previous_;
  std::vector<std::string> stops_;
  std::string held_;  // not shown yet
  bool stopped_ = false, after_space_;
};

// Replaces invalid bytes with U+FFFD.
std::string to_valid_utf8(std::string_view bytes);

}  // namespace heed
