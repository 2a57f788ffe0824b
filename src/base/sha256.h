// SHA-256 (FIPS 180-4, by libcrypto), as 64 lower-case hexadecimal digits.
#pragma once

#include <fmt/core.h>
#include <openssl/evp.h>

#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/input_file.h"
#include "base/std_names.h"

namespace heed {

class Sha256 {
 public:
  Sha256() { expect(EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr)); }

  void update(span<const std::byte> bytes) {
    expect(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()));
  }
  void update(string_view text) { update(std::as_bytes(span(text))); }
  string hex() {  // once, at the end
    unsigned char digest[32];
    expect(EVP_DigestFinal_ex(context_.get(), digest, nullptr));
    string text;
    for (const unsigned char byte : digest) text += fmt::format("{:02x}", byte);
    return text;
  }

 private:
  static void expect(int ok) {
    if (ok != 1) throw std::runtime_error("libcrypto has no working SHA-256");
  }

  unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_{EVP_MD_CTX_new(), EVP_MD_CTX_free};
};

inline string sha256(string_view bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.hex();
}

// Of the unread rest of a file.
inline string sha256_of(InputFile& file) {
  Sha256 hash;
  for (string piece; file.append_to(piece, 1 << 18); piece.clear()) hash.update(piece);
  return hash.hex();
}

}  // namespace heed
