// The file tokenizer.json of char, byte and word tokenizers:
//   {"format": "heed-tokenizer", "version": 1, "type": "char",
//    "special": ["<unk>", "<s>", "</s>"], "tokens": ["\n", " ", "e", ...]}
// The special tokens have the first ids, in this order: these three, then further ones ("[MASK]").
// `tokens` is empty for byte. A word tokenizer that splits punctuation off has
// "punctuation": "split" after its type.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace heed {

// `specials`: all of them.
std::string tokenizer_json(TokenizerConfig::Type type, const std::vector<std::string>& specials,
                           const std::vector<std::string>& tokens,
                           Punctuation punctuation = Punctuation::keep);

// The contents of such a file.
struct TokenList {
  TokenizerConfig::Type type;
  Punctuation punctuation = Punctuation::keep;
  std::vector<std::string> further = {};  // the names of the further special tokens
  std::vector<std::string> tokens = {};
};

// The fault of a list's tokens, in words; "" if they are valid.
std::string fault_of(const TokenList& list);

// Error (store) as in load_tokenizer. The result has no fault.
TokenList read_token_list(std::string_view bytes, const std::string& path);

// The list must have no fault.
std::unique_ptr<Tokenizer> tokenizer_of(TokenList list);

}  // namespace heed
