// bpe and unigram, encoded by SentencePiece (Kudo and Richardson 2018). See tokenizer.h for the
// contract.
//
// The text is cut into words: an optional space and the characters up to the next space or reserved
// character. No piece crosses such a cut, so encoding word by word gives the same ids as encoding
// the whole line, in linear time; each distinct word is encoded once per call. Words longer than
// kMaxWordBytes are cut there, between characters. Reserved characters (piece_model.h) and
// characters without a piece become byte tokens, so decoding restores any bytes exactly.
//
// A model of others may read otherwise (PieceModel::by_line): then SentencePiece splits whole
// lines, and decoding gives what its normaliser has left of them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/std_names.h"
#include "text/piece_model.h"
#include "text/tokenizer.h"

namespace sentencepiece {
class SentencePieceProcessor;
}

namespace heed {

class PieceTokenizer final : public Tokenizer {
 public:
  static constexpr size_t kMaxWordBytes = 1024;

  // Error (store, naming `path`) if SentencePiece rejects the model.
  PieceTokenizer(PieceModel model, const string& path);
  ~PieceTokenizer() override;

  int size() const override { return model_.size(); }
  void scan(string_view text, const Sink& sink) const override;
  string text_after(int previous, int id) const override;
  string serialize() const override { return write_piece_model(model_); }

 protected:
  string ordinary_piece(int id) const override;

 private:
  vector<int> encode_word(string_view word) const;
  void scan_lines(string_view text, const Sink& sink) const;
  bool is_byte(int id) const {
    return model_.first_byte_id() <= id && id < model_.first_piece_id();
  }
  int byte_id(char byte) const { return model_.first_byte_id() + static_cast<unsigned char>(byte); }

  PieceModel model_;
  vector<string> bytes_;  // the text of each id
  unique_ptr<sentencepiece::SentencePieceProcessor> processor_;
};

}  // namespace heed
