// SHA-256 (FIPS 180-4, by libcrypto), as 64 lower-case hexadecimal digits.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/input_file.h"
#include "base/std_names.h"

struct evp_md_ctx_st;  // libcrypto's

namespace heed {

class Sha256 {
 public:
  Sha256();

  void update(span<const std::byte> bytes);
  void update(string_view text) { update(std::as_bytes(span(text))); }
  string hex();  // once, at the end

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  unique_ptr<evp_md_ctx_st, Free> context_;
};

string sha256(string_view bytes);
// Of the unread rest of a file.
string sha256_of(InputFile& file);

}  // namespace heed
