#include "text/piece_model.h"

#include <fmt/core.h>
#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "base/format.h"
#include "base/protobuf.h"
#include "base/std_names.h"
#include "base/utf8.h"
#include "text/tokenizer.h"
#include "text/utf8.h"

namespace heed {
namespace {

[[noreturn]] void refuse(const string& path, const string& what) {
  throw store_error("{}: not a SentencePiece model that heed can use: {}.", path, what)
      .hint("use another checkpoint of the run");
}

// A field of a message, as far as tokenizer.model needs it.
struct ProtoField {
  int number, wire;
  uint64_t value = 0;      // kProtoVarint
  string_view bytes = {};  // kProtoBytes, kProtoFixed32

  bool is(int field, ProtoWire written) const { return number == field && wire == written; }
};

// Calls use(field) for the fields of a message in order, with every length checked.
template <class Use>
void each_field(string_view message, const string& path, Use&& use) {
  const auto take = [&](uint64_t n) {
    if (n > message.size()) refuse(path, "it is damaged");
    const string_view head = message.substr(0, n);
    message.remove_prefix(n);
    return head;
  };
  const auto take_number = [&] {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = uint8_t(take(1)[0]);
      value |= uint64_t(byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
    refuse(path, "it is damaged");
  };
  while (!message.empty()) {
    const uint64_t tag = take_number();
    ProtoField field{int(tag >> 3 & 0x1FFFFFFF), int(tag & 7)};
    if (field.wire == kProtoVarint)
      field.value = take_number();
    else if (field.wire == kProtoBytes)
      field.bytes = take(take_number());
    else if (field.wire == kProtoFixed32)
      field.bytes = take(4);
    else
      refuse(path, "it is damaged");
    use(field);
  }
}

class Lines final : public sentencepiece::SentenceIterator {
 public:
  explicit Lines(const vector<string>& lines) : lines_(lines) {}
  bool done() const override { return next_ >= lines_.size(); }
  void Next() override { ++next_; }
  const string& value() const override { return lines_[next_]; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  const vector<string>& lines_;
  size_t next_ = 0;
};

constexpr const char* kIdentity = "identity";  // it has no table
// SentencePiece's own.
const vector<string> kNormalizers = {kIdentity, "nfkc", "nmt_nfkc", "nfkc_cf", "nmt_nfkc_cf"};

// The field numbers of the messages.
enum ModelField { kPieces = 1, kTrainerSpec = 2, kNormalizerSpec = 3, kDenormalizerSpec = 5 };
enum PieceField { kText = 1, kScore = 2, kType = 3 };
enum TrainerField {
  kModelType = 3,
  kVocabSize = 4,
  kSuffixSpaces = 24,  // treat_whitespace_as_suffix
  kByteFallback = 35,
  kUnkId = 40,
  kBosId = 41,
  kEosId = 42,
  kPadId = 43
};
enum NormalizerField {
  kName = 1,
  kCharsmap = 2,
  kAddDummyPrefix = 3,
  kRemoveExtraWhitespaces = 4,
  kEscapeWhitespaces = 5,
  kByLine = 200  // heed's own mark, among the numbers that are free for extensions
};
constexpr uint64_t kUnigramType = 1, kBpeType = 2;

using Piece = PieceModel::Piece;

// The pieces before the learnt ones: <unk>, <s>, </s>, `specials`, <0x00> to <0xFF>.
vector<Piece> fixed_pieces(const vector<string>& specials) {
  vector<Piece> fixed = {
      {"<unk>", 0, Piece::kUnknown}, {"<s>", 0, Piece::kControl}, {"</s>", 0, Piece::kControl}};
  for (const string& name : specials) fixed.push_back({name, 0, Piece::kControl});
  for (int byte = 0; byte < 256; ++byte) fixed.push_back({byte_piece(byte), 0, Piece::kByte});
  return fixed;
}

void read_normalizer(string_view message, const string& path, PieceModel& model) {
  PieceModel::Reading& r = model.reading;
  const pair<int, bool*> flags[] = {{kAddDummyPrefix, &r.add_dummy_prefix},
                                    {kRemoveExtraWhitespaces, &r.remove_extra_whitespaces},
                                    {kEscapeWhitespaces, &r.escape_whitespaces},
                                    {kByLine, &model.by_line}};
  each_field(message, path, [&](const ProtoField& field) {
    if (field.is(kName, kProtoBytes)) r.normalizer = field.bytes;
    if (field.is(kCharsmap, kProtoBytes)) model.charsmap = field.bytes;
    for (const auto& [number, flag] : flags)
      if (field.is(number, kProtoVarint)) *flag = field.value != 0;
  });
}

// Any model, with all its pieces and the defaults of what is left out.
PieceModel read_model(string_view bytes, const string& path) {
  PieceModel model{.reading = {"nmt_nfkc", true, true, true}};
  uint64_t type = kUnigramType;
  each_field(bytes, path, [&](const ProtoField& field) {
    if (field.is(kPieces, kProtoBytes)) {
      Piece& piece = model.pieces.emplace_back();
      each_field(field.bytes, path, [&](const ProtoField& entry) {
        if (entry.is(kText, kProtoBytes)) piece.text = entry.bytes;
        if (entry.is(kScore, kProtoFixed32))
          memcpy(&piece.score, entry.bytes.data(), sizeof piece.score);
        if (entry.is(kType, kProtoVarint)) piece.type = entry.value;
      });
      if (std::cmp_greater(model.pieces.size(), Tokenizer::kMaxSize))
        refuse(path, "it has too many pieces");
    } else if (field.is(kTrainerSpec, kProtoBytes)) {
      each_field(field.bytes, path, [&](const ProtoField& entry) {
        if (entry.is(kModelType, kProtoVarint)) type = entry.value;
        if (entry.is(kSuffixSpaces, kProtoVarint) && entry.value != 0)
          refuse(path, "it has spaces at the ends of words");
      });
    } else if (field.is(kNormalizerSpec, kProtoBytes)) {
      read_normalizer(field.bytes, path, model);
    } else if (field.is(kDenormalizerSpec, kProtoBytes)) {
      PieceModel other;
      read_normalizer(field.bytes, path, other);
      if (!other.charsmap.empty()) refuse(path, "it has a denormaliser");
    }
  });
  if (type != kUnigramType && type != kBpeType) refuse(path, "its type is neither bpe nor unigram");
  model.unigram = type == kUnigramType;
  return model;
}

bool is_learnt(const Piece& piece) {
  return piece.type == Piece::kNormal || piece.type == Piece::kUserDefined;
}

// Can a model have this learnt piece?
bool is_usable(const Piece& piece, bool by_line) {
  constexpr size_t kMaxBytes = 256;
  const string& text = piece.text;
  if (text.empty() || text.size() > kMaxBytes || !isfinite(piece.score)) return false;
  if (by_line) return find_invalid_utf8(text) == text.npos;
  for (size_t at = text.starts_with(kSpaceMark) ? kSpaceMark.size() : 0; at < text.size();
       at += code_point_at(text, at).length)
    if (text[at] == ' ' || reserved_length(text, at) > 0) return false;
  return piece.type == Piece::kNormal;
}

PieceModel adopt(PieceModel model, const string& path, const vector<string>& specials) {
  const string& name = model.reading.normalizer;
  if (ranges::count(kNormalizers, name) == 0 || model.charsmap.empty() != (name == kIdentity))
    refuse(path, fmt::format("its normaliser (\"{}\") is not one of SentencePiece's own: {}",
                             excerpt(name), joined(kNormalizers)));
  model.specials = specials;
  model.by_line = model.by_line || model.reading != PieceModel::Reading{} ||
                  ranges::any_of(model.pieces, [](const Piece& piece) {
                    return is_learnt(piece) && !is_usable(piece, false);
                  });
  unordered_set<string> seen;
  for (const Piece& piece : fixed_pieces(specials)) seen.insert(piece.text);
  erase_if(model.pieces, [&](const Piece& piece) {  // heed adds its own that are not learnt
    return !is_learnt(piece) || !is_usable(piece, model.by_line) || !seen.insert(piece.text).second;
  });
  if (model.pieces.empty()) refuse(path, "it has no usable piece");
  return model;
}

// The table ("precompiled charsmap") of one of SentencePiece's own normalisers, which the library
// writes into the models that it trains; models of others are read with the table of the library at
// hand, never with their own.
string normalizer_table(const string& name) {
  if (name == kIdentity) return "";
  const string trained = learn_pieces({{"model_type", "bpe"},  // read_model() takes no "char"
                                       {"vocab_size", "8"},
                                       {"hard_vocab_limit", "false"},
                                       {"minloglevel", "3"},
                                       {"normalization_rule_name", name}},
                                      {"a b c"});
  return read_model(trained, "the trained model").charsmap;
}

// Limits the memory of one call: the cache is cleared when it has this many words.
constexpr size_t kMaxCachedWords = 200'000;

constexpr size_t kMaxEncodedWord = 1024;

// The end of the word that starts at text[begin], which is not a reserved character.
size_t word_end(string_view text, size_t begin) {
  size_t end = begin;
  if (text[end] == ' ') ++end;
  while (end < text.size() && text[end] != ' ' && reserved_length(text, end) == 0) {
    const size_t next = end + code_point_at(text, end).length;
    if (next - begin > kMaxEncodedWord) break;
    end = next;
  }
  return end;
}

// The text is cut into words: an optional space and the characters up to the next space or reserved
// character. No piece crosses such a cut, so encoding word by word gives the same ids as encoding
// the whole line, in linear time; each distinct word is encoded once per call. Words longer than
// kMaxEncodedWord are cut there, between characters. Reserved characters and characters without a
// piece become byte tokens, so decoding restores any bytes exactly.
//
// A model of others may read otherwise (PieceModel::by_line): then SentencePiece splits whole
// lines, and decoding gives what its normaliser has left of them.
class PieceTokenizer final : public Tokenizer {
 public:
  PieceTokenizer(PieceModel model, const string& path)
      : Tokenizer(model.unigram ? TokenizerConfig::unigram : TokenizerConfig::bpe, model.specials),
        model_(std::move(model)) {
    model_.charsmap = normalizer_table(model_.reading.normalizer);
    const auto status = processor_.LoadFromSerializedProto(serialize());
    if (!status.ok())
      throw store_error("{}: SentencePiece rejects it: {}.", path, status.ToString());
    bytes_.resize(model_.first_byte_id());
    for (int byte = 0; byte < 256; ++byte) bytes_.emplace_back(1, char(byte));
    for (const auto& piece : model_.pieces)
      bytes_.push_back(replace_all(piece.text, kSpaceMark, " "));
  }

  int size() const override { return model_.size(); }

  void scan(string_view text, const Sink& sink) const override {
    if (model_.by_line) return scan_lines(text, sink);
    unordered_map<string_view, vector<int>> cache;
    for (size_t at = 0; at < text.size();) {
      if (const int reserved = reserved_length(text, at)) {
        for (int i = 0; i < reserved; ++i, ++at) sink({byte_id(text[at]), at, at + 1});
        continue;
      }
      const size_t end = word_end(text, at);
      const string_view word = text.substr(at, end - at);
      auto found = cache.find(word);
      if (found == cache.end()) {
        if (cache.size() >= kMaxCachedWords) cache.clear();
        found = cache.emplace(word, processor_.EncodeAsIds(word)).first;
      }
      for (const int id : found->second) {
        const size_t next = at + bytes_[id].size();
        sink({id, at, next});
        at = next;
      }
    }
  }

  string text_after(int previous, int id) const override {
    const bool begins_line = previous < 0 || previous == byte_id('\n');
    const bool prefixed = model_.reading.add_dummy_prefix && begins_line;
    return prefixed && bytes_[id].starts_with(' ') ? bytes_[id].substr(1) : bytes_[id];
  }

  string serialize() const override { return write_piece_model(model_); }

 protected:
  string ordinary_piece(int id) const override {
    if (id >= model_.first_piece_id())
      return printable(model_.pieces[id - model_.first_piece_id()].text);
    return byte_piece(id - model_.first_byte_id());
  }

 private:
  void scan_lines(string_view text, const Sink& sink) const {
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = min(text.find('\n', begin), text.size());
      const auto found = processor_.EncodeAsImmutableProto(text.substr(begin, end - begin));
      const auto pieces = found.pieces();
      for (size_t i = 0; i < pieces.size();) {
        // The bytes of a character are at its begin, but for the last one, which has all of it.
        size_t last = i;
        while (pieces[last].begin() == pieces[last].end() && last + 1 < pieces.size() &&
               is_byte(pieces[last].id()))
          ++last;
        size_t at = begin + pieces[last].begin();
        const bool bytes =
            is_byte(pieces[last].id()) && pieces[last].end() - pieces[last].begin() == last - i + 1;
        for (; i <= last; ++i, ++at) {
          const int id = pieces[i].id();
          if (bytes)
            sink({id, at, at + 1});
          else
            sink({id, begin + pieces[i].begin(), begin + pieces[i].end()});
        }
      }
      if (end < text.size()) sink({byte_id('\n'), end, end + 1});
      begin = end + 1;
    }
  }

  bool is_byte(int id) const {
    return model_.first_byte_id() <= id && id < model_.first_piece_id();
  }
  int byte_id(char byte) const { return model_.first_byte_id() + uint8_t(byte); }

  PieceModel model_;
  vector<string> bytes_;  // the text of each id
  sentencepiece::SentencePieceProcessor processor_;
};

}  // namespace

string learn_pieces(const unordered_map<string, string>& settings, const vector<string>& lines) {
  Lines iterator(lines);
  string trained;
  const auto status = sentencepiece::SentencePieceTrainer::Train(settings, &iterator, &trained);
  if (status.ok()) return trained;
  throw data_error("SentencePiece cannot learn a vocabulary: {}.", status.ToString())
      .hint("more text, another tokenizer.vocab_size, or tokenizer.type \"byte\"");
}

vector<Piece> all_pieces(const PieceModel& model) {
  return appended(fixed_pieces(model.specials), model.pieces);
}

string with_space_marks(string_view token) {
  return replace_all(token, " ", kSpaceMark);
}

string byte_piece(int byte) {
  return fmt::format("<0x{:02X}>", byte);
}

int reserved_length(string_view text, size_t at) {
  const CodePoint c = code_point_at(text, at);
  const bool reserved = c.value == 0 || c.value == '\t' || c.value == '\n' || c.value == 0x2581 ||
                        c.value == 0x2585 || c.value == 0xFFFD || c.value == kInvalidCodePoint;
  return reserved ? c.length : 0;
}

string write_piece_model(const PieceModel& model) {
  string out;
  for (const Piece& piece : all_pieces(model))
    out += proto_bytes(kPieces,
                       proto_bytes(kText, piece.text) + proto_fixed(kScore, piece.score) +
                           (piece.type == Piece::kNormal ? "" : proto_number(kType, piece.type)));
  out += proto_bytes(kTrainerSpec,
                     proto_number(kModelType, model.unigram ? kUnigramType : kBpeType) +
                         proto_number(kVocabSize, model.size()) + proto_number(kByteFallback, 1) +
                         proto_number(kUnkId, Tokenizer::kUnk) +
                         proto_number(kBosId, Tokenizer::kBos) +
                         proto_number(kEosId, Tokenizer::kEos) + proto_number(kPadId, -1));
  const PieceModel::Reading& r = model.reading;
  out += proto_bytes(kNormalizerSpec,
                     proto_bytes(kName, r.normalizer) +
                         (model.charsmap.empty() ? "" : proto_bytes(kCharsmap, model.charsmap)) +
                         proto_number(kAddDummyPrefix, r.add_dummy_prefix) +
                         proto_number(kRemoveExtraWhitespaces, r.remove_extra_whitespaces) +
                         proto_number(kEscapeWhitespaces, r.escape_whitespaces) +
                         (model.by_line ? proto_number(kByLine, 1) : ""));
  return out;
}

PieceModel read_piece_model(string_view bytes, const string& path) {
  const PieceModel any = read_model(bytes, path);
  vector<string> specials;
  for (size_t id = Tokenizer::kFirstFurther;
       id < any.pieces.size() && any.pieces[id].type == Piece::kControl; ++id)
    specials.push_back(any.pieces[id].text);
  PieceModel model = adopt(any, path, specials);
  if (!ranges::all_of(specials, is_special_name) || write_piece_model(model) != bytes)
    refuse(path, "heed writes it otherwise");
  return model;
}

PieceModel adopt_pieces(string_view bytes, const string& path, const vector<string>& specials) {
  return adopt(read_model(bytes, path), path, specials);
}

unique_ptr<Tokenizer> tokenizer_of(PieceModel model, const string& path) {
  return make_unique<PieceTokenizer>(std::move(model), path);
}

}  // namespace heed
