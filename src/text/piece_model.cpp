#include "text/piece_model.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <unordered_set>

#include "base/error.h"
#include "text/tokenizer.h"
#include "text/utf8.h"

namespace heed {
namespace {

constexpr std::size_t kMaxPieceBytes = 256;

// Protobuf wire types and the fields used.
enum Wire { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };
enum ModelField { kPieces = 1, kTrainerSpec = 2, kNormalizerSpec = 3 };
enum PieceField { kText = 1, kScore = 2, kType = 3 };
enum PieceType { kNormal = 1, kUnknown = 2, kControl = 3, kByte = 6 };
enum TrainerField {
  kModelType = 3,
  kVocabSize = 4,
  kByteFallback = 35,
  kUnkId = 40,
  kBosId = 41,
  kEosId = 42,
  kPadId = 43
};
enum NormalizerField {
  kName = 1,
  kAddDummyPrefix = 3,
  kRemoveExtraWhitespaces = 4,
  kEscapeWhitespaces = 5
};
constexpr std::uint64_t kUnigramType = 1, kBpeType = 2;

std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  return out + static_cast<char>(value);
}

std::string number(int field, std::uint64_t value) {
  return varint(static_cast<std::uint64_t>(field) << 3 | kVarint) + varint(value);
}

std::string bytes_field(int field, std::string_view value) {
  return varint(static_cast<std::uint64_t>(field) << 3 | kBytes) + varint(value.size()) +
         std::string(value);
}

std::string float_field(int field, float value) {
  std::string out = varint(static_cast<std::uint64_t>(field) << 3 | kFixed32);
  const auto bits = std::bit_cast<std::uint32_t>(value);
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(bits >> shift);
  return out;
}

std::string piece_message(std::string_view text, float score, PieceType type) {
  return bytes_field(kPieces, bytes_field(kText, text) + float_field(kScore, score) +
                                  (type == kNormal ? "" : number(kType, type)));
}

std::string byte_name(int byte) {
  std::array<char, 8> name;
  std::snprintf(name.data(), name.size(), "<0x%02X>", byte);
  return name.data();
}

// Reads a message field by field; every length is checked against what is there.
class Reader {
 public:
  Reader(std::string_view bytes, const std::string& path) : bytes_(bytes), path_(path) {}

  struct Field {
    int number;
    Wire wire;
    std::uint64_t value;     // kVarint, kFixed32
    std::string_view bytes;  // kBytes
  };

  bool done() const { return bytes_.empty(); }

  Field next() {
    const std::uint64_t key = read_varint();
    if (key >> 3 == 0 || key >> 3 > 0x1FFFFFFF) refuse("it is damaged");
    Field field{static_cast<int>(key >> 3), static_cast<Wire>(key & 7), 0, {}};
    switch (field.wire) {
      case kVarint:
        field.value = read_varint();
        break;
      case kBytes:
        field.bytes = take(read_varint());
        break;
      case kFixed64:
        take(8);
        break;
      case kFixed32: {
        const std::string_view four = take(4);
        for (int i = 3; i >= 0; --i) {
          field.value = field.value << 8 | static_cast<unsigned char>(four[i]);
        }
        break;
      }
      default:
        refuse("it is damaged");
    }
    return field;
  }

  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(Exit::store, path_ + ": not a tokenizer that heed wrote: " + what + ".",
                "use another checkpoint of the run");
  }

 private:
  std::uint64_t read_varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1)[0]);
      value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
    refuse("it is damaged");
  }
  std::string_view take(std::uint64_t n) {
    if (n > bytes_.size()) refuse("it is cut short");
    const std::string_view head = bytes_.substr(0, n);
    bytes_.remove_prefix(n);
    return head;
  }

  std::string_view bytes_;
  const std::string& path_;
};

struct AnyPiece {
  std::string text;
  float score = 0;
  std::uint64_t type = kNormal;
};

AnyPiece read_piece(std::string_view message, const std::string& path) {
  AnyPiece piece;
  for (Reader reader(message, path); !reader.done();) {
    const Reader::Field field = reader.next();
    if (field.number == kText && field.wire == kBytes) {
      piece.text = field.bytes;
    } else if (field.number == kScore && field.wire == kFixed32) {
      piece.score = std::bit_cast<float>(static_cast<std::uint32_t>(field.value));
    } else if (field.number == kType && field.wire == kVarint) {
      piece.type = field.value;
    } else {
      reader.refuse("a piece has an unknown field");
    }
  }
  return piece;
}

// Why a learnt piece can't be one; nullptr if it can.
const char* fault(const AnyPiece& piece) {
  if (piece.type != kNormal) return "has the wrong type";
  if (piece.text.empty()) return "is empty";
  if (piece.text.size() > kMaxPieceBytes) return "is too long";
  if (!std::isfinite(piece.score)) return "has no finite score";
  std::size_t at = piece.text.starts_with(kSpaceMark) ? kSpaceMark.size() : 0;
  for (; at < piece.text.size(); at += code_point_at(piece.text, at).length) {
    if (piece.text[at] == ' ' || reserved_length(piece.text, at) > 0) {
      return "has a character that no piece may have";
    }
  }
  return nullptr;
}

}  // namespace

int reserved_length(std::string_view text, std::size_t at) {
  const CodePoint c = code_point_at(text, at);
  const bool reserved = c.value == 0 || c.value == '\t' || c.value == '\n' || c.value == 0x2581 ||
                        c.value == 0x2585 || c.value == 0xFFFD || c.value == kInvalidCodePoint;
  return reserved ? c.length : 0;
}

std::string write_piece_model(const PieceModel& model) {
  std::string out = piece_message("<unk>", 0, kUnknown) + piece_message("<s>", 0, kControl) +
                    piece_message("</s>", 0, kControl);
  if (model.has_mask) out += piece_message(Tokenizer::kMaskText, 0, kControl);
  for (int byte = 0; byte < 256; ++byte) out += piece_message(byte_name(byte), 0, kByte);
  for (const auto& piece : model.pieces) out += piece_message(piece.text, piece.score, kNormal);
  out += bytes_field(kTrainerSpec,
                     number(kModelType, model.unigram ? kUnigramType : kBpeType) +
                         number(kVocabSize, static_cast<std::uint64_t>(model.size())) +
                         number(kByteFallback, 1) + number(kUnkId, Tokenizer::kUnk) +
                         number(kBosId, Tokenizer::kBos) + number(kEosId, Tokenizer::kEos) +
                         number(kPadId, static_cast<std::uint64_t>(-1)));
  out += bytes_field(kNormalizerSpec, bytes_field(kName, "identity") + number(kAddDummyPrefix, 0) +
                                          number(kRemoveExtraWhitespaces, 0) +
                                          number(kEscapeWhitespaces, 1));
  return out;
}

PieceModel read_piece_model(std::string_view bytes, const std::string& path) {
  std::vector<AnyPiece> all;
  std::uint64_t model_type = 0;
  Reader reader(bytes, path);
  while (!reader.done()) {
    const Reader::Field field = reader.next();
    if (field.number == kPieces && field.wire == kBytes) {
      all.push_back(read_piece(field.bytes, path));
      if (all.size() > static_cast<std::size_t>(Tokenizer::kMaxSize)) {
        reader.refuse("it has too many pieces");
      }
    } else if (field.number == kTrainerSpec && field.wire == kBytes) {
      for (Reader spec(field.bytes, path); !spec.done();) {
        const Reader::Field entry = spec.next();
        if (entry.number == kModelType && entry.wire == kVarint) model_type = entry.value;
      }
    }
  }
  PieceModel model;
  if (model_type != kUnigramType && model_type != kBpeType)
    reader.refuse("it is no bpe or unigram");
  model.unigram = model_type == kUnigramType;
  model.has_mask = all.size() > 3 && all[3].text == Tokenizer::kMaskText && all[3].type == kControl;
  // The fixed part, as heed writes it.
  std::vector<AnyPiece> fixed = {
      {"<unk>", 0, kUnknown}, {"<s>", 0, kControl}, {"</s>", 0, kControl}};
  if (model.has_mask) fixed.push_back({std::string(Tokenizer::kMaskText), 0, kControl});
  for (int byte = 0; byte < 256; ++byte) fixed.push_back({byte_name(byte), 0, kByte});
  if (all.size() <= fixed.size()) reader.refuse("it has too few pieces");
  std::unordered_set<std::string_view> seen;
  for (std::size_t id = 0; id < all.size(); ++id) {
    const std::string shown =
        "piece " + std::to_string(id) + " (\"" + printable(all[id].text) + "\") ";
    if (!seen.insert(all[id].text).second) reader.refuse(shown + "is there twice");
    if (id < fixed.size()) {
      if (all[id].text != fixed[id].text || all[id].type != fixed[id].type) {
        reader.refuse(shown + "should be " + fixed[id].text);
      }
      continue;
    }
    if (const char* what = fault(all[id])) reader.refuse(shown + what);
    model.pieces.push_back({all[id].text, all[id].score});
  }
  return model;
}

}  // namespace heed
