// Bytes as text: base64 with padding (RFC 4648, section 4).
#pragma once

#include <string>
#include <vector>

namespace heed {

std::string base64(const std::vector<unsigned char>& bytes);

// Length of the text for this many bytes.
constexpr std::size_t base64_size(std::size_t bytes) {
  return (bytes + 2) / 3 * 4;
}

}  // namespace heed
