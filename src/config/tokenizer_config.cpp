#include "config/tokenizer_config.h"

#include "config/fields.h"

namespace heed {

std::vector<Field> fields(TokenizerConfig& c) {
  const auto& names = TokenizerConfig::kTypeNames;
  return {
      {"type", choice(c.type, {names.begin(), names.end()}),
       "what a token is: a character, a byte, a word, or a learnt piece of text"},
      {"vocab_size",
       &c.vocab_size,
       "how many ids there are, special ones included; 0 = as many as the text has (char, byte, "
       "word), 4000 (bpe, unigram)",
       {0, 1'000'000}},
      {"min_frequency",
       &c.min_frequency,
       "char, word: what is rarer than this in the training text becomes `<unk>`",
       {1, 1'000'000'000}},
      {"sample_bytes",
       &c.sample_bytes,
       "bpe, unigram: the pieces are learnt from at most this many bytes of the training text",
       {1, 1e12}},
      {"shared", &c.shared, "pairs: one vocabulary for source and target"},
  };
}

}  // namespace heed
