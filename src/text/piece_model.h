// The learnt part of a bpe or unigram tokenizer, and its file tokenizer.model: a SentencePiece
// ModelProto (protobuf). heed writes and accepts exactly one form, so that it can check every byte
// before SentencePiece's own parser reads it:
//
//   ids 0 <unk>, 1 <s>, 2 </s>, then further special tokens, then <0x00> to <0xFF>, then `pieces`;
//   trainer_spec: model_type, vocab_size, byte_fallback, ids of the special pieces;
//   normalizer_spec: identity, no dummy prefix, no removal of extra whitespace.
//
// Any SentencePiece library (Python's, say) can open the file. Field numbers are those in
// sentencepiece_model.proto in google/sentencepiece.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed {

struct PieceModel {
  struct Piece {
    std::string text;  // U+2581 marks a space, only as the first character
    float score;       // bpe: minus the rank of the merge; unigram: log probability
  };
  bool unigram = false;                    // else bpe
  std::vector<std::string> specials = {};  // names of the further special tokens
  std::vector<Piece> pieces = {};

  int first_byte_id() const { return 3 + static_cast<int>(specials.size()); }
  int first_piece_id() const { return first_byte_id() + 256; }
  int size() const { return first_piece_id() + static_cast<int>(pieces.size()); }
};

inline constexpr std::string_view kSpaceMark = "\xE2\x96\x81";  // U+2581
// A token of any tokenizer, with visible spaces.
std::string with_space_marks(std::string_view token);

// "<0x65>": the name of a byte among the pieces.
std::string byte_piece(int byte);

// The length of the character at text[at] if SentencePiece cannot take it as text, else 0. These
// are characters it uses itself (NUL, tab, U+2581, U+2585, U+FFFD), the newline (always a separate
// token in heed) and invalid bytes (length 1). They become byte tokens.
int reserved_length(std::string_view text, std::size_t at);

std::string write_piece_model(const PieceModel& model);

// Reads a model written by heed or by SentencePiece's trainer. Error (store, naming `path`) if the
// bytes are not such a model, or if a piece is duplicate, misplaced, empty, too long or not as
// described above.
PieceModel read_piece_model(std::string_view bytes, const std::string& path);

// The usable part of any SentencePiece model: the ordinary pieces with their scores, in order,
// after `specials` and the bytes. Not used: its normaliser, user-defined pieces, and pieces that
// heed's form does not allow (with a space in the middle, say).
struct AdoptedPieces {
  PieceModel model;
  int left_out = 0;  // of the ordinary and user-defined pieces
};
// Error (store) as above if the bytes are not a bpe or unigram model, or if no piece is usable.
AdoptedPieces adopt_pieces(std::string_view bytes, const std::string& path,
                           const std::vector<std::string>& specials);

}  // namespace heed
