// Writing messages of Protocol Buffers (protobuf.dev, "Encoding"): a field is its number with the
// way its value is written, then the value. A message in a message is its bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/files.h"
#include "base/std_names.h"

namespace heed {

enum ProtoWire { kProtoVarint = 0, kProtoFixed64 = 1, kProtoBytes = 2, kProtoFixed32 = 5 };

inline string varint(uint64_t value) {
  string out;
  for (; value >= 0x80; value >>= 7) out += char(value | 0x80);
  return out + char(value);
}

inline string proto_key(int field, ProtoWire wire) {
  return varint(uint64_t(field) << 3 | wire);
}

inline string proto_number(int field, uint64_t value) {
  return proto_key(field, kProtoVarint) + varint(value);
}

inline string proto_bytes(int field, string_view value) {
  return proto_key(field, kProtoBytes) + varint(value.size()) + string(value);
}

template <class Number>  // float, double
string proto_fixed(int field, Number value) {
  return proto_key(field, sizeof value == 4 ? kProtoFixed32 : kProtoFixed64) + bytes_of(value);
}

}  // namespace heed
