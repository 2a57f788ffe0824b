#include "text/piece_model.h"

#include <fmt/core.h>
#include <sentencepiece_trainer.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "base/format.h"
#include "base/protobuf.h"
#include "base/utf8.h"
#include "text/tokenizer.h"
#include "text/utf8.h"

namespace heed {
namespace {

// Reads the fields of one message in order, as far as tokenizer.model needs it, with every length
// checked. The caller owns it.
class ProtoReader {
 public:
  // `path` names the file in errors and must outlive the reader.
  ProtoReader(std::string_view bytes, const std::string& path) : bytes_(bytes), path_(path) {}

  struct Field {
    int number;
    ProtoWire wire;
    std::uint64_t value;     // kProtoVarint, kProtoFixed32
    std::string_view bytes;  // kProtoBytes
  };

  bool done() const { return bytes_.empty(); }
  Field next();  // Error (store) if the bytes are not a field

  // Throws Error (store): the file is not a tokenizer; `what` says why.
  [[noreturn]] void refuse(const std::string& what) const;

 private:
  std::uint64_t read_varint();
  std::string_view take(std::uint64_t n);

  std::string_view bytes_;
  const std::string& path_;
};

ProtoReader::Field ProtoReader::next() {
  const std::uint64_t tag = read_varint();
  if (tag >> 3 == 0 || tag >> 3 > 0x1FFFFFFF) refuse("it is damaged");
  Field field{static_cast<int>(tag >> 3), static_cast<ProtoWire>(tag & 7), 0, {}};
  switch (field.wire) {
    case kProtoVarint:
      field.value = read_varint();
      break;
    case kProtoBytes:
      field.bytes = take(read_varint());
      break;
    case kProtoFixed32: {
      const std::string_view four = take(4);
      for (int i = 3; i >= 0; --i)
        field.value = field.value << 8 | static_cast<unsigned char>(four[i]);
      break;
    }
    default:
      refuse("it is damaged");
  }
  return field;
}

void ProtoReader::refuse(const std::string& what) const {
  throw Error(Exit::store,
              fmt::format("{}: not a SentencePiece model that heed can use: {}.", path_, what),
              "use another checkpoint of the run");
}

std::uint64_t ProtoReader::read_varint() {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const auto byte = static_cast<unsigned char>(take(1)[0]);
    value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
  refuse("it is damaged");
}

std::string_view ProtoReader::take(std::uint64_t n) {
  if (n > bytes_.size()) refuse("it is cut short");
  const std::string_view head = bytes_.substr(0, n);
  bytes_.remove_prefix(n);
  return head;
}

// The fields of sentencepiece_model.proto on the way to the table.
constexpr int kSpecField = 3, kTableField = 2;

std::string_view member(std::string_view message, int number) {
  const std::string path = "a trained model";
  for (ProtoReader reader(message, path); !reader.done();) {
    const ProtoReader::Field field = reader.next();
    if (field.number == number && field.wire == kProtoBytes) return field.bytes;
  }
  return {};
}

class OneLine final : public sentencepiece::SentenceIterator {
 public:
  bool done() const override { return done_; }
  void Next() override { done_ = true; }
  const std::string& value() const override { return line_; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  std::string line_ = "a b c";
  bool done_ = false;
};

constexpr std::string_view kIdentity = "identity";  // it has no table

// SentencePiece's own.
const std::vector<std::string> kNormalizers = {std::string(kIdentity), "nfkc", "nmt_nfkc",
                                               "nfkc_cf", "nmt_nfkc_cf"};

bool is_normalizer(std::string_view name) {
  return std::ranges::count(kNormalizers, name) > 0;
}

// The table of a model of a few characters.
std::string table_of(const std::string& name) {
  const std::unordered_map<std::string, std::string> settings = {{"model_type", "char"},
                                                                 {"vocab_size", "8"},
                                                                 {"hard_vocab_limit", "false"},
                                                                 {"minloglevel", "3"},
                                                                 {"normalization_rule_name", name}};
  std::string trained;
  OneLine line;
  const auto status = sentencepiece::SentencePieceTrainer::Train(settings, &line, &trained);
  if (!status.ok())
    throw Error(Exit::internal,
                "SentencePiece has no normaliser " + name + ": " + status.ToString());
  return std::string(member(member(trained, kSpecField), kTableField));
}

constexpr std::size_t kMaxPieceBytes = 256;

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
constexpr std::uint64_t kUnigramType = 1, kBpeType = 2;

using Piece = PieceModel::Piece;

std::string message_of(const Piece& piece) {
  return proto_bytes(kPieces,
                     proto_bytes(kText, piece.text) + proto_fixed(kScore, piece.score) +
                         (piece.type == Piece::kNormal ? "" : proto_number(kType, piece.type)));
}

// The pieces before the learnt ones: <unk>, <s>, </s>, `specials`, <0x00> to <0xFF>.
std::vector<Piece> fixed_pieces(const std::vector<std::string>& specials) {
  std::vector<Piece> fixed = {
      {"<unk>", 0, Piece::kUnknown}, {"<s>", 0, Piece::kControl}, {"</s>", 0, Piece::kControl}};
  for (const std::string& name : specials) fixed.push_back({name, 0, Piece::kControl});
  for (int byte = 0; byte < 256; ++byte) fixed.push_back({byte_piece(byte), 0, Piece::kByte});
  return fixed;
}

Piece read_piece(std::string_view message, const std::string& path) {
  Piece piece;
  for (ProtoReader reader(message, path); !reader.done();) {
    const ProtoReader::Field field = reader.next();
    if (field.number == kText && field.wire == kProtoBytes)
      piece.text = field.bytes;
    else if (field.number == kScore && field.wire == kProtoFixed32)
      piece.score = std::bit_cast<float>(static_cast<std::uint32_t>(field.value));
    else if (field.number == kType && field.wire == kProtoVarint)
      piece.type = field.value;
    else
      reader.refuse("a piece has an unknown field");
  }
  return piece;
}

// Any model of type bpe or unigram, with all its pieces and the defaults of what is left out.
struct AnyModel : PieceModel {
  AnyModel() : PieceModel{.unigram = true, .reading = {"nmt_nfkc", true, true, true}} {}
  bool suffix_spaces = false, denormalizes = false;
  std::string charsmap;
};

void read_normalizer(std::string_view message, const std::string& path, AnyModel& model) {
  for (ProtoReader spec(message, path); !spec.done();) {
    const ProtoReader::Field entry = spec.next();
    if (entry.number == kName && entry.wire == kProtoBytes) model.reading.normalizer = entry.bytes;
    if (entry.number == kCharsmap && entry.wire == kProtoBytes) model.charsmap = entry.bytes;
    if (entry.wire != kProtoVarint) continue;
    const bool on = entry.value != 0;
    if (entry.number == kAddDummyPrefix) model.reading.add_dummy_prefix = on;
    if (entry.number == kRemoveExtraWhitespaces) model.reading.remove_extra_whitespaces = on;
    if (entry.number == kEscapeWhitespaces) model.reading.escape_whitespaces = on;
    if (entry.number == kByLine) model.by_line = on;
  }
}

AnyModel read_model(std::string_view bytes, const std::string& path) {
  AnyModel model;
  std::vector<Piece>& all = model.pieces;
  std::uint64_t model_type = kUnigramType;
  ProtoReader reader(bytes, path);
  while (!reader.done()) {
    const ProtoReader::Field field = reader.next();
    if (field.number == kPieces && field.wire == kProtoBytes) {
      all.push_back(read_piece(field.bytes, path));
      if (all.size() > static_cast<std::size_t>(Tokenizer::kMaxSize))
        reader.refuse("it has too many pieces");
    } else if (field.number == kTrainerSpec && field.wire == kProtoBytes) {
      for (ProtoReader spec(field.bytes, path); !spec.done();) {
        const ProtoReader::Field entry = spec.next();
        if (entry.number == kModelType && entry.wire == kProtoVarint) model_type = entry.value;
        if (entry.number == kSuffixSpaces && entry.wire == kProtoVarint)
          model.suffix_spaces = entry.value != 0;
      }
    } else if (field.number == kNormalizerSpec && field.wire == kProtoBytes) {
      read_normalizer(field.bytes, path, model);
    } else if (field.number == kDenormalizerSpec && field.wire == kProtoBytes) {
      AnyModel other;
      read_normalizer(field.bytes, path, other);
      model.denormalizes = !other.charsmap.empty();
    }
  }
  if (model_type != kUnigramType && model_type != kBpeType)
    reader.refuse("its type is neither bpe nor unigram");
  model.unigram = model_type == kUnigramType;
  return model;
}

// The fault of a learnt piece, or nullptr.
const char* fault(const Piece& piece, bool by_line) {
  if (piece.type != Piece::kNormal && !(by_line && piece.type == Piece::kUserDefined))
    return "has the wrong type";
  if (piece.text.empty()) return "is empty";
  if (piece.text.size() > kMaxPieceBytes) return "is too long";
  if (!std::isfinite(piece.score)) return "has no finite score";
  if (by_line) return find_invalid_utf8(piece.text) == piece.text.npos ? nullptr : "is not UTF-8";
  std::size_t at = piece.text.starts_with(kSpaceMark) ? kSpaceMark.size() : 0;
  for (; at < piece.text.size(); at += code_point_at(piece.text, at).length)
    if (piece.text[at] == ' ' || reserved_length(piece.text, at) > 0)
      return "has a character that no piece may have";
  return nullptr;
}

}  // namespace

const std::string& normalizer_table(const std::string& name) {
  static std::map<std::string, std::string> tables = {{std::string(kIdentity), ""}};
  if (!tables.contains(name)) tables[name] = table_of(name);
  return tables.at(name);
}

std::vector<Piece> all_pieces(const PieceModel& model) {
  std::vector<Piece> all = fixed_pieces(model.specials);
  all.insert(all.end(), model.pieces.begin(), model.pieces.end());
  return all;
}

std::string with_space_marks(std::string_view token) {
  return replace_all(token, " ", kSpaceMark);
}

std::string byte_piece(int byte) {
  return fmt::format("<0x{:02X}>", byte);
}

int reserved_length(std::string_view text, std::size_t at) {
  const CodePoint c = code_point_at(text, at);
  const bool reserved = c.value == 0 || c.value == '\t' || c.value == '\n' || c.value == 0x2581 ||
                        c.value == 0x2585 || c.value == 0xFFFD || c.value == kInvalidCodePoint;
  return reserved ? c.length : 0;
}

std::string write_piece_model(const PieceModel& model, std::string_view charsmap) {
  std::string out;
  for (const Piece& piece : all_pieces(model)) out += message_of(piece);
  out += proto_bytes(kTrainerSpec,
                     proto_number(kModelType, model.unigram ? kUnigramType : kBpeType) +
                         proto_number(kVocabSize, static_cast<std::uint64_t>(model.size())) +
                         proto_number(kByteFallback, 1) + proto_number(kUnkId, Tokenizer::kUnk) +
                         proto_number(kBosId, Tokenizer::kBos) +
                         proto_number(kEosId, Tokenizer::kEos) +
                         proto_number(kPadId, static_cast<std::uint64_t>(-1)));
  const PieceModel::Reading& r = model.reading;
  out += proto_bytes(kNormalizerSpec,
                     proto_bytes(kName, r.normalizer) +
                         (charsmap.empty() ? "" : proto_bytes(kCharsmap, charsmap)) +
                         proto_number(kAddDummyPrefix, r.add_dummy_prefix) +
                         proto_number(kRemoveExtraWhitespaces, r.remove_extra_whitespaces) +
                         proto_number(kEscapeWhitespaces, r.escape_whitespaces) +
                         (model.by_line ? proto_number(kByLine, 1) : ""));
  return out;
}

PieceModel read_piece_model(std::string_view bytes, const std::string& path,
                            std::string* charsmap) {
  const ProtoReader reader(bytes, path);
  const AnyModel any = read_model(bytes, path);
  const std::vector<Piece>& all = any.pieces;
  PieceModel model{.unigram = any.unigram, .by_line = any.by_line};
  if (any.by_line) {
    model.reading = any.reading;
    if (!is_normalizer(model.reading.normalizer)) reader.refuse("its normaliser is unknown");
    if (charsmap != nullptr) *charsmap = any.charsmap;
  }
  for (std::size_t i = Tokenizer::kFirstFurther; i < all.size() && all[i].type == Piece::kControl;
       ++i) {
    if (!is_special_name(all[i].text)) reader.refuse("a special token has an invalid name");
    model.specials.push_back(all[i].text);
  }
  const std::vector<Piece> fixed = fixed_pieces(model.specials);
  if (all.size() <= fixed.size()) reader.refuse("it has too few pieces");
  std::unordered_set<std::string_view> seen;
  for (std::size_t id = 0; id < all.size(); ++id) {
    const std::string shown = fmt::format("piece {} (\"{}\") ", id, excerpt(all[id].text));
    if (!seen.insert(all[id].text).second) reader.refuse(shown + "appears twice");
    if (id < fixed.size()) {
      if (all[id].text != fixed[id].text || all[id].type != fixed[id].type)
        reader.refuse(shown + "should be " + fixed[id].text);
      continue;
    }
    if (const char* what = fault(all[id], any.by_line)) reader.refuse(shown + what);
    model.pieces.push_back(all[id]);
  }
  return model;
}

AdoptedPieces adopt_pieces(std::string_view bytes, const std::string& path,
                           const std::vector<std::string>& specials) {
  const ProtoReader reader(bytes, path);
  const AnyModel any = read_model(bytes, path);
  const std::string& name = any.reading.normalizer;
  if (!is_normalizer(name) || any.charsmap.empty() != (name == kIdentity) || any.denormalizes)
    reader.refuse(fmt::format("its normaliser (\"{}\") is not one of SentencePiece's own: {}",
                              excerpt(name), joined(kNormalizers)));
  if (any.suffix_spaces) reader.refuse("it has spaces at the ends of words");
  AdoptedPieces adopted;
  adopted.model.unigram = any.unigram;
  adopted.model.specials = specials;
  const auto learnt = [](const Piece& piece) {
    return piece.type == Piece::kNormal || piece.type == Piece::kUserDefined;
  };
  adopted.model.by_line =
      any.reading != PieceModel::Reading{} ||
      std::ranges::any_of(any.pieces, [&](const Piece& p) { return learnt(p) && fault(p, false); });
  if (adopted.model.by_line) adopted.model.reading = any.reading;
  adopted.other_table = any.charsmap != normalizer_table(name);
  const std::vector<Piece> fixed = fixed_pieces(specials);
  std::unordered_set<std::string_view> seen;
  for (const Piece& piece : fixed) seen.insert(piece.text);
  for (const Piece& piece : any.pieces) {
    if (!learnt(piece)) continue;  // heed adds its own
    if (fault(piece, adopted.model.by_line) || !seen.insert(piece.text).second)
      adopted.left_out.push_back(piece.text);
    else
      adopted.model.pieces.push_back(piece);
  }
  if (adopted.model.pieces.empty()) reader.refuse("it has no usable piece");
  return adopted;
}

}  // namespace heed
