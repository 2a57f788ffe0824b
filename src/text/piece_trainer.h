// Learns a bpe or unigram vocabulary with SentencePiece, in this process and single-threaded: the
// same lines give the same model. Its log is silenced.
#pragma once

#include <string>
#include <vector>

#include "config/tokenizer_config.h"
#include "text/piece_model.h"

namespace heed {

struct TrainedPieces {
  PieceModel model;
  int rare_characters;  // distinct ones left to the byte tokens: outside 99.995 % of the text
};

// Lines of valid UTF-8 without newlines. Errors: usage if config.vocab_size is below what the
// characters need (both are told) or above Tokenizer::kMaxSize; data for less than two characters,
// and for what SentencePiece itself reports.
TrainedPieces train_pieces(const TokenizerConfig& config, const std::vector<std::string>& specials,
                           const std::vector<std::string>& lines);

}  // namespace heed
