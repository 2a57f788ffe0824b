// SHA-256 (FIPS 180-4, by libcrypto), as 64 lower-case hexadecimal digits.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/input_file.h"

struct evp_md_ctx_st;  // libcrypto's

namespace heed {

class Sha256 {
 public:
  Sha256();

  void update(std::span<const std::byte> bytes);
  void update(std::string_view text) { update(std::as_bytes(std::span(text))); }
  std::string hex();  // once, at the end

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

std::string sha256(std::string_view bytes);
// Of the unread rest of a file.
std::string sha256_of(InputFile& file);

}  // namespace heed
