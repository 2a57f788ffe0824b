// The tokenizer: the section `tokenizer` of a config. Plain values without checks; TokenizerTrainer
// rejects impossible values.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

struct Field;

// Whether punctuation marks stay attached to words or are tokens of their own.
enum class Punctuation { keep, split };

struct TokenizerConfig {
  enum Type { char_, byte, word, bpe, unigram };
  static constexpr std::array<std::string_view, 5> kTypeNames = {"char", "byte", "word", "bpe",
                                                                 "unigram"};
  Type type = char_;
  std::string file;  // an existing vocabulary, relative to the folder of the config; "": learnt
  // Number of ids, including special ones. 0: everything found (char, word), 256 and the special
  // ones (byte), 4000 (bpe, unigram; more if the characters of the text alone need half of it).
  int vocab_size = 0;
  int min_frequency = 1;                        // char, word: rarer ones become <unk>
  std::int64_t sample_bytes = 10'000'000;       // bpe, unigram learn from at most this much text
  Punctuation punctuation = Punctuation::keep;  // word
  bool shared = true;                           // one vocabulary for source and target
};

constexpr std::string_view type_name(TokenizerConfig::Type type) {
  return TokenizerConfig::kTypeNames[type];
}

constexpr bool is_subword(TokenizerConfig::Type type) {
  return type == TokenizerConfig::bpe || type == TokenizerConfig::unigram;
}

std::vector<Field> fields(TokenizerConfig& c);

}  // namespace heed
