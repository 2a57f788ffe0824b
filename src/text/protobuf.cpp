#include "text/protobuf.h"

#include <fmt/core.h>

#include <bit>

#include "base/error.h"

namespace heed {
namespace {

std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  return out + static_cast<char>(value);
}

std::string key(int field, ProtoWire wire) {
  return varint(static_cast<std::uint64_t>(field) << 3 | wire);
}

}  // namespace

std::string proto_number(int field, std::uint64_t value) {
  return key(field, kProtoVarint) + varint(value);
}

std::string proto_bytes(int field, std::string_view value) {
  return key(field, kProtoBytes) + varint(value.size()) + std::string(value);
}

std::string proto_float(int field, float value) {
  std::string out = key(field, kProtoFixed32);
  const auto bits = std::bit_cast<std::uint32_t>(value);
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(bits >> shift);
  return out;
}

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

}  // namespace heed
