// Learns a tokenizer from training text, fed piece by piece, so that a corpus need never be in
// memory at once. char and word keep counts; byte nothing but a set of bytes; bpe and unigram keep
// a sample of whole lines of at most sample_bytes, the same for the same seed and text however it
// is cut into calls at newlines. Single-threaded; the text is not kept.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "text/tokenizer.h"

namespace heed {

struct TrainedTokenizer {
  std::unique_ptr<Tokenizer> tokenizer;
  // One line for the log: how many ids were learnt, from how much text, what was left out.
  std::string note;
};

class TokenizerTrainer {
 public:
  // `specials`: further special tokens, by name; they have the ids from 3 on.
  TokenizerTrainer(const TokenizerConfig& config, std::vector<std::string> specials,
                   std::uint64_t seed);
  ~TokenizerTrainer();
  TokenizerTrainer(TokenizerTrainer&&) noexcept;

  // Valid UTF-8 (any bytes for byte). Cut at newlines, or for char and byte between characters.
  void add(std::string_view text);

  // char, word: by falling frequency, ties by rising bytes (which is code point order).
  // Errors: usage for a vocab_size too small for the text (names tokenizer.vocab_size and the
  // minimum); data for no text, or for text with less than two different tokens: nothing to learn.
  TrainedTokenizer finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace heed
