// SHA-256 (FIPS 180-4, by libcrypto), as 64 lower-case hexadecimal digits.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/input_file.h"

namespace heed {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void update(std::span<const std::byte> bytes);
  void update(std::string_view text) { update(std::as_bytes(std::span(text))); }
  std::string hex();  // once, at the end

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

std::string sha256(std::string_view bytes);
// Of what is left to read of a file.
std::string sha256_of(InputFile& file);
// Of a regular file, read in pieces.
std::string sha256_of_file(const std::filesystem::path& path);

}  // namespace heed
