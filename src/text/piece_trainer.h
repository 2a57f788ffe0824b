// Learns a bpe or unigram vocabulary with SentencePiece, in this process and single-threaded, so
// the same lines give the same model. SentencePiece's log is off.
#pragma once

#include <string>
#include <vector>

#include "config/tokenizer_config.h"
#include "text/piece_model.h"

namespace heed {

struct TrainedPieces {
  PieceModel model;
  int rare_characters;  // distinct, beyond 99.995 % of the text; written as bytes
};

// Error (data) if fewer than two distinct tokens were `kept` of those `found`. `what`: "word".
void need_two(std::size_t kept, std::size_t found, const std::string& what);

// Lines of valid UTF-8 without newlines. Errors: usage if config.vocab_size is too small for the
// characters (the message names the minimum); data if there are fewer than two distinct characters
// or SentencePiece fails.
TrainedPieces train_pieces(const TokenizerConfig& config, const std::vector<std::string>& specials,
                           const std::vector<std::string>& lines);

}  // namespace heed
