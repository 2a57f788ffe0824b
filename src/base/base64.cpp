#include "base/base64.h"

#include <openssl/evp.h>

namespace heed {

std::string base64(const std::vector<unsigned char>& bytes) {
  std::string text(base64_size(bytes.size()) + 1, '\0');  // libcrypto adds a zero at the end
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes.data(),
                  static_cast<int>(bytes.size()));
  text.pop_back();
  return text;
}

}  // namespace heed
