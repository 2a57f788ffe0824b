// The learnt part of a bpe or unigram tokenizer, and its file tokenizer.model: a SentencePiece
// ModelProto (protobuf) of which heed writes and accepts exactly one form, so that it can be
// checked byte for byte before SentencePiece's own parser sees it:
//
//   ids 0 <unk>, 1 <s>, 2 </s>, then further special tokens, then <0x00> to <0xFF>, then `pieces`;
//   trainer_spec: model_type, vocab_size, byte_fallback, ids of the special pieces;
//   normalizer_spec: identity, no dummy prefix, no removal of extra whitespace.
//
// The file opens in any SentencePiece (Python's, say) as well. Field numbers:
// sentencepiece_model.proto of google/sentencepiece.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed {

struct PieceModel {
  struct Piece {
    std::string text;  // U+2581 stands for the space, at the front only
    float score;       // bpe: minus the rank of the merge; unigram: log probability
  };
  bool unigram = false;               // else bpe
  std::vector<std::string> specials;  // the further ones, by name
  std::vector<Piece> pieces;

  int first_byte_id() const { return 3 + static_cast<int>(specials.size()); }
  int first_piece_id() const { return first_byte_id() + 256; }
  int size() const { return first_piece_id() + static_cast<int>(pieces.size()); }
};

inline constexpr std::string_view kSpaceMark = "\xE2\x96\x81";  // U+2581

// Length of the character at text[at] if SentencePiece can't take it as text: control characters
// it uses itself (NUL, tab), the newline (always a token of its own in heed), U+2581, U+2585,
// U+FFFD and invalid bytes (one each). 0 if it can. Such characters are written as byte tokens.
int reserved_length(std::string_view text, std::size_t at);

std::string write_piece_model(const PieceModel& model);

// What SentencePiece's trainer gave. Errors (store, naming `path`) for bytes that are no such
// model, and for pieces that are duplicate, misplaced, empty, overlong or not as described above.
PieceModel read_piece_model(std::string_view bytes, const std::string& path);

}  // namespace heed
