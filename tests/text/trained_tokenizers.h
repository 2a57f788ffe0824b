// Helpers of the tokenizers' tests.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "text/texts.h"
#include "text/tokenizer_trainer.h"

namespace heed {

using Type = TokenizerConfig::Type;

inline TrainedTokenizer train_tokenizer(const TokenizerConfig& config, bool with_mask,
                                        std::uint64_t seed, std::string_view text) {
  TokenizerTrainer trainer(
      config, with_mask ? std::vector<std::string>{"[MASK]"} : std::vector<std::string>{}, seed);
  trainer.add(text);
  return trainer.finish();
}

inline std::unique_ptr<Tokenizer> train(TokenizerConfig config, std::string_view text,
                                        bool mask = false) {
  return train_tokenizer(config, mask, 1, text).tokenizer;
}

inline std::unique_ptr<Tokenizer> train(Type type, std::string_view text, bool mask = false) {
  TokenizerConfig config;
  config.type = type;
  if (type == TokenizerConfig::bpe || type == TokenizerConfig::unigram) config.vocab_size = 400;
  return train(config, text, mask);
}

inline std::vector<int> ids_of(const std::vector<Token>& tokens) {
  std::vector<int> ids;
  for (const Token& token : tokens) ids.push_back(token.id);
  return ids;
}

inline std::vector<std::string> pieces(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<std::string> result;
  for (const int id : tokenizer.encode(text)) result.push_back(tokenizer.piece(id));
  return result;
}

}  // namespace heed
