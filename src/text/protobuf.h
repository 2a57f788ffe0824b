// The part of Protocol Buffers' wire format that tokenizer.model needs (protobuf.dev, "Encoding"):
// writing fields, and reading them with every length checked.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heed {

enum ProtoWire { kProtoVarint = 0, kProtoBytes = 2, kProtoFixed32 = 5 };

std::string proto_number(int field, std::uint64_t value);
std::string proto_bytes(int field, std::string_view value);
std::string proto_float(int field, float value);

// Reads the fields of one message in order. The caller owns it.
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

}  // namespace heed
