#include "text/piece_model.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <unordered_set>

#include "base/error.h"
#include "base/format.h"
#include "base/utf8.h"
#include "text/piece_normalizer.h"
#include "text/protobuf.h"
#include "text/tokenizer.h"
#include "text/utf8.h"

namespace heed {
namespace {

constexpr std::size_t kMaxPieceBytes = 256;

// The field numbers of the messages.
enum ModelField { kPieces = 1, kTrainerSpec = 2, kNormalizerSpec = 3, kDenormalizerSpec = 5 };
enum PieceField { kText = 1, kScore = 2, kType = 3 };
enum PieceType { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kByte = 6 };
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

struct AnyPiece {
  std::string text;
  float score = 0;
  std::uint64_t type = kNormal;

  std::string message() const {
    return proto_bytes(kPieces, proto_bytes(kText, text) + proto_float(kScore, score) +
                                    (type == kNormal ? "" : proto_number(kType, type)));
  }
};

// The pieces before the learnt ones: <unk>, <s>, </s>, `specials`, <0x00> to <0xFF>.
std::vector<AnyPiece> fixed_pieces(const std::vector<std::string>& specials) {
  std::vector<AnyPiece> fixed = {
      {"<unk>", 0, kUnknown}, {"<s>", 0, kControl}, {"</s>", 0, kControl}};
  for (const std::string& name : specials) fixed.push_back({name, 0, kControl});
  for (int byte = 0; byte < 256; ++byte) fixed.push_back({byte_piece(byte), 0, kByte});
  return fixed;
}

AnyPiece read_piece(std::string_view message, const std::string& path) {
  AnyPiece piece;
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

// Any model of type bpe or unigram, with the defaults of what is left out.
struct AnyModel {
  std::vector<AnyPiece> pieces = {};
  bool unigram = true, suffix_spaces = false, by_line = false, denormalizes = false;
  PieceModel::Reading reading{"nmt_nfkc", true, true, true};
  std::string charsmap = {};
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
  std::vector<AnyPiece>& all = model.pieces;
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
const char* fault(const AnyPiece& piece, bool by_line) {
  if (piece.type != kNormal && !(by_line && piece.type == kUserDefined))
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
  for (const AnyPiece& piece : fixed_pieces(model.specials)) out += piece.message();
  for (const auto& piece : model.pieces)
    out += AnyPiece{piece.text, piece.score, piece.user_defined ? kUserDefined : kNormal}.message();
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
  const std::vector<AnyPiece>& all = any.pieces;
  PieceModel model{.unigram = any.unigram, .by_line = any.by_line};
  if (any.by_line) {
    model.reading = any.reading;
    if (!is_normalizer(model.reading.normalizer)) reader.refuse("its normaliser is unknown");
    if (charsmap != nullptr) *charsmap = any.charsmap;
  }
  for (std::size_t i = Tokenizer::kFirstFurther; i < all.size() && all[i].type == kControl; ++i) {
    if (!is_special_name(all[i].text)) reader.refuse("a special token has an invalid name");
    model.specials.push_back(all[i].text);
  }
  const std::vector<AnyPiece> fixed = fixed_pieces(model.specials);
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
    model.pieces.push_back({all[id].text, all[id].score, all[id].type == kUserDefined});
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
                              excerpt(name), joined(normalizers())));
  if (any.suffix_spaces) reader.refuse("it has spaces at the ends of words");
  AdoptedPieces adopted;
  adopted.model.unigram = any.unigram;
  adopted.model.specials = specials;
  const auto learnt = [](const AnyPiece& piece) {
    return piece.type == kNormal || piece.type == kUserDefined;
  };
  adopted.model.by_line = any.reading != PieceModel::Reading{} ||
                          std::ranges::any_of(any.pieces, [&](const AnyPiece& p) {
                            return learnt(p) && fault(p, false);
                          });
  if (adopted.model.by_line) adopted.model.reading = any.reading;
  adopted.other_table = any.charsmap != normalizer_table(name);
  const std::vector<AnyPiece> fixed = fixed_pieces(specials);
  std::unordered_set<std::string_view> seen;
  for (const AnyPiece& piece : fixed) seen.insert(piece.text);
  for (const AnyPiece& piece : any.pieces) {
    if (!learnt(piece)) continue;  // heed adds its own
    if (fault(piece, adopted.model.by_line) || !seen.insert(piece.text).second)
      adopted.left_out.push_back(piece.text);
    else
      adopted.model.pieces.push_back({piece.text, piece.score, piece.type == kUserDefined});
  }
  if (adopted.model.pieces.empty()) reader.refuse("it has no usable piece");
  return adopted;
}

}  // namespace heed
