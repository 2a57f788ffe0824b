#include "base/sha256.h"
#include "base/std_names.h"

#include <fmt/core.h>
#include <openssl/evp.h>

#include <stdexcept>

namespace heed {
namespace {

void expect(int ok) {
  if (ok != 1) throw std::runtime_error("libcrypto has no working SHA-256");
}

}  // namespace

void Sha256::Free::operator()(evp_md_ctx_st* context) const {
  EVP_MD_CTX_free(context);
}

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  expect(EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr));
}

void Sha256::update(span<const std::byte> bytes) {
  expect(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()));
}

string Sha256::hex() {
  unsigned char digest[32];
  expect(EVP_DigestFinal_ex(context_.get(), digest, nullptr));
  string text;
  for (const unsigned char byte : digest) text += fmt::format("{:02x}", byte);
  return text;
}

string sha256(string_view bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.hex();
}

string sha256_of(InputFile& file) {
  Sha256 hash;
  for (string piece; file.append_to(piece, 1 << 18); piece.clear()) hash.update(piece);
  return hash.hex();
}

}  // namespace heed
