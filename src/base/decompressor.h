// Unpacking gzip (.gz) and xz (.xz) a piece at a time. A file is recognised by its first bytes, not
// by its name. Every checksum is verified, as `gzip -t` and `xz -t` do (libarchive would not: it
// reads past gzip's). Several members in one file are read in turn; zero padding is skipped.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace heed {

class Decompressor {
 public:
  virtual ~Decompressor() = default;

  struct Step {
    std::size_t read, written;
    const char* fault = nullptr;  // what is wrong with the bytes, or nullptr
  };
  // Unpacks the front of `packed` into `out`. If it writes nothing, it has read all of
  // `packed` and needs more.
  virtual Step unpack(std::string_view packed, std::span<std::byte> out) = 0;
  virtual bool complete() = 0;              // at the end of the input: may it end here?
  virtual const char* program() const = 0;  // "gzip", "xz"
};

// True if these first bytes are too few to tell whether the file is compressed.
bool may_be_compressed(std::string_view first_bytes);

// Null if a file with these first bytes is not compressed.
std::unique_ptr<Decompressor> decompressor_for(std::string_view first_bytes);

}  // namespace heed
