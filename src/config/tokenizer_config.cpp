#include "config/tokenizer_config.h"

#include "config/fields.h"

namespace heed {

std::vector<Field> fields(TokenizerConfig& c) {
  const auto& names = TokenizerConfig::kTypeNames;
  return {
      {"type", choice(c.type, {names.begin(), names.end()}),
       "the kind of token: a character, a byte, a word, or a learnt piece of text"},
      {"vocab_size", &c.vocab_size,
       "number of ids, with special ones; 0 = as many as the text has (char, byte, word), 4000 "
       "(bpe, unigram)",
       between(0, 1'000'000)},
      {"min_frequency", &c.min_frequency,
       "char, word: tokens rarer than this in the training text become `<unk>`",
       between(1, 1'000'000'000)},
      {"sample_bytes", &c.sample_bytes,
       "bpe, unigram: learn the pieces from at most this many bytes of the training text",
       between(1, 1e12)},
      {"shared", &c.shared, "pairs: one vocabulary for source and target"},
  };
}

}  // namespace heed
