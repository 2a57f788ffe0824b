// Learns a tokenizer from training text that arrives part by part, so a corpus need not fit into
// memory. char, word and byte keep counts; bpe and unigram keep a sample of whole lines of at most
// sample_bytes. The sample depends only on the seed and the text, not on how the text is cut at
// newlines. Single-threaded.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/line_sample.h"
#include "text/word_tokenizer.h"

namespace heed {

struct TrainedTokenizer {
  std::unique_ptr<Tokenizer> tokenizer;
  // One line for the log: the number of ids, the size of the text, what was left out.
  std::string note;
};

class TokenizerTrainer {
 public:
  // `specials`: the names of the further special tokens, with ids from 3 on.
  TokenizerTrainer(const TokenizerConfig& config, std::vector<std::string> specials,
                   std::uint64_t seed);

  // Adds valid UTF-8 (any bytes for byte), cut at newlines, or between characters for char and
  // byte.
  void add(std::string_view text);

  // char, word: ids by falling frequency, ties by rising bytes (the order of code points). Errors:
  // usage if vocab_size is too small for the text (the message names the minimum); data if the text
  // has fewer than two distinct tokens.
  TrainedTokenizer finish();

 private:
  int first_id() const { return Tokenizer::kFirstFurther + static_cast<int>(specials_.size()); }
  std::size_t room() const;  // for learnt ids
  TrainedTokenizer finish_tokens();
  TrainedTokenizer finish_pieces();

  TokenizerConfig config_;
  std::vector<std::string> specials_;
  std::uint64_t bytes_ = 0;
  // Counts of code points (char) or bytes, by value, and of words.
  std::vector<std::int64_t> characters_;
  StringMap<std::int64_t> words_;
  LineSample sample_;
};

}  // namespace heed
