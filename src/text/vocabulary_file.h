// An existing vocabulary (tokenizer.file): tokenizer.json or tokenizer.model from a heed run, a
// SentencePiece model from another program, or a text file with one token per line ("\n" is the
// newline). The content tells which it is.
//
// The file gives the tokens and their order. Ids are heed's: special tokens as the objective needs
// them, then, with bpe and unigram, 256 bytes, then the tokens. So the vocabulary of a run fits
// every objective, and a foreign model need not have heed's special ids.
#pragma once

#include <string>
#include <vector>

#include "text/tokenizer_trainer.h"

namespace heed {

// `specials`: the names of the further special tokens. Errors: data if the file cannot be read or
// is none of these; usage if it does not match config.type and config.punctuation.
TrainedTokenizer read_vocabulary(const TokenizerConfig& config,
                                 const std::vector<std::string>& specials, const std::string& path);

}  // namespace heed
