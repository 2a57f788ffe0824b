// The file tokenizer.json of char, byte and word tokenizers:
//   {"format": "heed-tokenizer", "version": 1, "type": "char",
//    "special": ["<unk>", "<s>", "</s>"], "tokens": ["\n", " ", "e", ...]}
// The special tokens have the first ids, in this order: these three, then further ones ("[MASK]").
// `tokens` is empty for byte.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace heed {

// `specials`: all of them.
std::string tokenizer_json(TokenizerConfig::Type type, const std::vector<std::string>& specials,
                           const std::vector<std::string>& tokens);

// Errors (store) as in load_tokenizer.
std::unique_ptr<Tokenizer> tokenizer_from_json(std::string_view bytes, const std::string& path);

}  // namespace heed
