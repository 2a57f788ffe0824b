// char, byte and word tokenizers, which are lists of tokens, and their file tokenizer.json:
//   {"format": "heed-tokenizer", "version": 1, "type": "char",
//    "special": ["<unk>", "<s>", "</s>"], "tokens": ["\n", " ", "e", ...]}
// The special tokens have the first ids, in this order: these three, then further ones ("[MASK]").
// `tokens` is empty for byte. A word tokenizer that splits punctuation off has
// "punctuation": "split" after its type.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/std_names.h"
#include "text/tokenizer.h"

namespace heed {

// The contents of such a file.
struct TokenList {
  TokenizerConfig::Type type;
  Punctuation punctuation = Punctuation::keep;
  vector<string> further = {};  // the names of the further special tokens
  vector<string> tokens = {};
};

string tokenizer_json(const TokenList& list);

// The fault of a list's tokens, in words; "" if they are valid.
string fault_of(const TokenList& list);

// Error (store) as in load_tokenizer. The result has no fault.
TokenList read_token_list(string_view bytes, const string& path);

// The list must have no fault.
unique_ptr<Tokenizer> tokenizer_of(TokenList list);

// Calls use(begin, end) for every word and newline of a text, as a word tokenizer splits it: ASCII
// whitespace separates words; punctuation stays with its word, or every mark and symbol (Unicode's
// P and S) is a word.
void each_word(string_view text, Punctuation punctuation,
               const function<void(size_t, size_t)>& use);

}  // namespace heed
