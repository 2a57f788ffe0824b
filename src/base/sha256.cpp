#include "base/sha256.h"

#include <openssl/evp.h>

#include <stdexcept>

namespace heed {
namespace {

void expect(int ok) {
  if (ok != 1) throw std::runtime_error("libcrypto has no working SHA-256");
}

}  // namespace

struct Sha256::Context {
  EVP_MD_CTX* evp = EVP_MD_CTX_new();
  ~Context() { EVP_MD_CTX_free(evp); }
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {
  expect(EVP_DigestInit_ex(context_->evp, EVP_sha256(), nullptr));
}
Sha256::~Sha256() = default;

void Sha256::update(std::span<const std::byte> bytes) {
  expect(EVP_DigestUpdate(context_->evp, bytes.data(), bytes.size()));
}

std::string Sha256::hex() {
  unsigned char digest[32];
  expect(EVP_DigestFinal_ex(context_->evp, digest, nullptr));
  std::string text;
  for (const unsigned char byte : digest) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

std::string sha256(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.hex();
}

std::string sha256_of(InputFile& file) {
  Sha256 hash;
  for (std::string piece; file.append_to(piece, 1 << 18); piece.clear()) hash.update(piece);
  return hash.hex();
}

std::string sha256_of_file(const std::filesystem::path& path) {
  InputFile file(path);
  return sha256_of(file);
}

}  // namespace heed
