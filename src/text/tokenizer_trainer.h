// Learns a tokenizer from training text that arrives part by part, so a corpus need not fit into
// memory. char, word and byte keep counts; bpe and unigram keep a sample of whole lines of at most
// sample_bytes. The sample depends only on the seed and the text, not on how the text is cut at
// newlines. Single-threaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/std_names.h"
#include "text/token_list.h"

namespace heed {

// A random sample of lines, limited in total size, drawn in one pass over the text. Every line gets
// a hash of the seed and its number. When the kept lines exceed the limit, those with the largest
// hashes are dropped; a line longer than the limit is never kept. The seed and the lines determine
// the sample. Lines keep their order. Owns copies of the lines.
class LineSample {
 public:
  LineSample(uint64_t seed, size_t max_bytes) : seed_(seed), max_bytes_(max_bytes) {}

  // Lines longer than 4096 bytes are cut, before a space if possible, and count as several.
  void add(string_view text);
  // The kept lines, in order, without newlines. Leaves the sample empty.
  vector<string> take();

  uint64_t bytes_kept() const { return bytes_kept_; }

 private:
  struct Line {
    uint64_t hash, number;
    string text;
  };
  void add_line(string_view line);

  uint64_t seed_;
  size_t max_bytes_;
  vector<Line> heap_;  // largest hash on top
  uint64_t lines_ = 0, bytes_kept_ = 0;
};

struct TrainedTokenizer {
  unique_ptr<Tokenizer> tokenizer;
  // One line for the log: the number of ids, the size of the text, what was left out.
  string note;
};

class TokenizerTrainer {
 public:
  // `specials`: the names of the further special tokens, with ids from 3 on.
  TokenizerTrainer(const TokenizerConfig& config, vector<string> specials, uint64_t seed);

  // Adds valid UTF-8 (any bytes for byte), cut at newlines, or between characters for char and
  // byte.
  void add(string_view text);
  // Adds held-out text, after all others: char knows its further characters, too, unless
  // min_frequency is above 1.
  void add_held_out(string_view text);

  // char, word: ids by falling frequency, ties by rising bytes (the order of code points). Errors:
  // usage if vocab_size is too small for the text (the message names the minimum); data if the text
  // has fewer than two distinct tokens.
  TrainedTokenizer finish();

 private:
  int first_id() const { return Tokenizer::kFirstFurther + specials_.size(); }
  TrainedTokenizer finish_tokens();
  TrainedTokenizer finish_pieces();

  TokenizerConfig config_;
  vector<string> specials_;
  uint64_t bytes_ = 0;
  // Counts of code points (char), by value, and of words.
  vector<int64_t> characters_;
  unordered_map<string, int64_t> words_;
  int held_out_ = 0;  // characters that only held-out text has
  LineSample sample_;
};

// An existing vocabulary (vocabulary_file.cpp). `specials`: the names of the further special
// tokens. Errors: data if the file cannot be read or is none of these; usage if it does not match
// config.type and config.punctuation.
TrainedTokenizer read_vocabulary(const TokenizerConfig& config, const vector<string>& specials,
                                 const string& path);

}  // namespace heed
