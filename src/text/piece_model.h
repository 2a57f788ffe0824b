// bpe and unigram tokenizers, encoded by SentencePiece (Kudo and Richardson 2018), and their file
// tokenizer.model: a SentencePiece ModelProto (protobuf). heed writes and accepts exactly one form,
// so that it can check every byte before SentencePiece's own parser reads it:
//
//   ids 0 <unk>, 1 <s>, 2 </s>, then further special tokens, then <0x00> to <0xFF>, then `pieces`;
//   trainer_spec: model_type, vocab_size, byte_fallback, ids of the special pieces;
//   normalizer_spec: identity, no dummy prefix, no removal of extra whitespace; or, for a model of
//   others (tokenizer.file), its own way of reading a line, with the library's table for a
//   normaliser and the mark kByLine.
//
// Any SentencePiece library (Python's, say) can open the file. Field numbers are those in
// sentencepiece_model.proto in google/sentencepiece.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/std_names.h"
#include "text/tokenizer.h"

namespace heed {

struct PieceModel {
  struct Piece {
    string text;      // U+2581 marks a space; only as the first character unless by_line
    float score = 0;  // bpe: minus the rank of the merge; unigram: log probability
    // SentencePiece's numbers. Those of a PieceModel are normal or user-defined (taken whole
    // wherever it occurs; only if by_line).
    enum Type { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kByte = 6 };
    uint64_t type = kNormal;
  };
  // How a model of others changes a line before it is split.
  struct Reading {
    string normalizer = "identity";
    bool add_dummy_prefix = false, remove_extra_whitespaces = false, escape_whitespaces = true;
    bool operator==(const Reading&) const = default;
  };
  bool unigram = false;          // else bpe
  vector<string> specials = {};  // names of the further special tokens
  vector<Piece> pieces = {};
  bool by_line = false;  // lines are split whole, as SentencePiece does it; else word by word
  Reading reading = {};  // only if by_line
  string charsmap = {};  // the table of its normaliser, as the library at hand has it

  int first_byte_id() const { return 3 + specials.size(); }
  int first_piece_id() const { return first_byte_id() + 256; }
  int size() const { return first_piece_id() + pieces.size(); }
};

// By id: also the special tokens and the bytes.
vector<PieceModel::Piece> all_pieces(const PieceModel& model);

inline constexpr string_view kSpaceMark = "\xE2\x96\x81";  // U+2581
// A token of any tokenizer, with visible spaces.
string with_space_marks(string_view token);

// "<0x65>": the name of a byte among the pieces.
string byte_piece(int byte);

// The length of the character at text[at] if SentencePiece cannot take it as text, else 0. These
// are characters it uses itself (NUL, tab, U+2581, U+2585, U+FFFD), the newline (always a separate
// token in heed) and invalid bytes (length 1). They become byte tokens.
int reserved_length(string_view text, size_t at);

string write_piece_model(const PieceModel& model);

// Reads a model that heed wrote. Error (store, naming `path`) if it would write other bytes.
PieceModel read_piece_model(string_view bytes, const string& path);

// Any SentencePiece model: the ordinary and user-defined pieces with their scores, in order, after
// `specials` and the bytes, and its way of reading a line. So the texts of its pieces are
// SentencePiece's; newlines and characters without a piece are bytes. Pieces that are too long, or
// are heed's own already, are left out.
// Error (store) as above if the bytes are not a bpe or unigram model, if no piece is usable, or if
// its normaliser is not one of SentencePiece's own.
PieceModel adopt_pieces(string_view bytes, const string& path, const vector<string>& specials);

// The SentencePiece model that its trainer learns from these lines. Error (data) if it cannot.
string learn_pieces(const unordered_map<string, string>& settings, const vector<string>& lines);

// Error (store, naming `path`) if SentencePiece rejects the model.
unique_ptr<Tokenizer> tokenizer_of(PieceModel model, const string& path);

}  // namespace heed
