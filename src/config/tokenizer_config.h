// What a tokenizer is made from: the section `tokenizer` of a config. Plain values, no checks of
// their own; TokenizerTrainer rejects impossible values.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace heed {

struct Field;

struct TokenizerConfig {
  enum Type { char_, byte, word, bpe, unigram };
  static constexpr std::array<std::string_view, 5> kTypeNames = {"char", "byte", "word", "bpe",
                                                                 "unigram"};
  Type type = char_;
  // All ids counted, special ones too. 0: everything found for char and word, 256 and the special
  // ones for byte, 4000 for bpe and unigram (more if the text's characters alone need half of it).
  int vocab_size = 0;
  int min_frequency = 1;                   // char, word: rarer ones become <unk>
  std::int64_t sample_bytes = 10'000'000;  // bpe, unigram learn from at most this much text
  bool shared = true;                      // one vocabulary for source and target
};

constexpr std::string_view type_name(TokenizerConfig::Type type) {
  return TokenizerConfig::kTypeNames[type];
}

std::vector<Field> fields(TokenizerConfig& c);

}  // namespace heed
