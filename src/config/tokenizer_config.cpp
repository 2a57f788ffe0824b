#include "config/tokenizer_config.h"

#include "config/fields.h"

namespace heed {

std::vector<Field> fields(TokenizerConfig& c) {
  const auto& names = TokenizerConfig::kTypeNames;
  const std::string learnt = c.file.empty() ? "" : "tokenizer.file gives the vocabulary";
  const std::string type_is = "tokenizer.type is " + std::string(type_name(c.type));
  return {
      {"type", choice(c.type, {names.begin(), names.end()}),
       "the kind of token: a character, a byte, a word, or a learnt piece of text"},
      {"file", &c.file,
       "an existing vocabulary: tokenizer.json or tokenizer.model of a run, a SentencePiece "
       "model (bpe, unigram), or a list of tokens, one per line (char, word); empty = learn one",
       kAny, OnResume::allowed, "",
       c.type == TokenizerConfig::byte && !c.file.empty() ? type_is + ", which needs no vocabulary"
                                                          : ""},
      {"vocab_size", &c.vocab_size,
       "number of ids, including special ones; 0 = as many as the text has (char, byte, word), "
       "4000 (bpe, unigram)",
       between(0, 1'000'000), OnResume::refused, "", learnt},
      {"min_frequency", &c.min_frequency,
       "char, word: tokens rarer than this in the training text become `<unk>`",
       between(1, 1'000'000'000), OnResume::refused, "", learnt},
      {"sample_bytes", &c.sample_bytes,
       "bpe, unigram: learn the pieces from at most this many bytes of the training text",
       between(1, 1e12), OnResume::refused, "", learnt},
      {"punctuation", choice(c.punctuation, {"keep", "split"}),
       "word: whether punctuation marks and symbols stay part of their words or are tokens of "
       "their own",
       kAny, OnResume::refused, "", c.type == TokenizerConfig::word ? "" : type_is},
      {"shared", &c.shared, "pairs: one vocabulary for source and target"},
  };
}

}  // namespace heed
