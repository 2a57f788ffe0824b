// A tokenizer as Hugging Face's library `tokenizers` reads it: the same ids for the same text, and
// the same text for the same ids. Names of special tokens in a text are ordinary text, which that
// library does only with "split_special_tokens" in tokenizer_config.json.
#pragma once

#include <string>

#include "data/run_config.h"
#include "text/piece_model.h"
#include "text/tokenizer.h"

namespace heed {

struct HuggingFaceTokenizer {
  std::string tokenizer, config;  // of tokenizer.json and tokenizer_config.json
};

// The learnt part of a bpe or unigram tokenizer. Error (usage) for a tokenizer.file that splits
// whole lines, not words.
PieceModel pieces_of_words(const Tokenizer& tokenizer);

// Frames a text as the model reads it: <s> before a text, </s> after a line of pairs. Error
// (usage) as above.
HuggingFaceTokenizer huggingface_tokenizer(const Tokenizer& tokenizer, const RunConfig& config);

}  // namespace heed
