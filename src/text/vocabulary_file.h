// A vocabulary that exists already (tokenizer.file): tokenizer.json or tokenizer.model of a run of
// heed, a SentencePiece model that something else wrote, or a text file with one token per line
// ("\n" is the newline). The content says which it is.
//
// The file gives the tokens and their order. Ids are heed's: special tokens as the objective needs
// them, then, with bpe and unigram, 256 bytes, then the tokens. So a vocabulary of a run fits every
// objective, and a foreign model need not have heed's special ids.
#pragma once

#include <string>
#include <vector>

#include "text/tokenizer_trainer.h"

namespace heed {

// `specials`: the names of the further special tokens. Errors: data for a file that cannot be read
// or is none of these; usage if it is not what config.type and config.punctuation say.
TrainedTokenizer read_vocabulary(const TokenizerConfig& config,
                                 const std::vector<std::string>& specials, const std::string& path);

}  // namespace heed
