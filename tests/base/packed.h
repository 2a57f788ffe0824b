// Compressed bytes for tests.
#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

namespace heed {

inline std::string gzip(const std::string& text) {
  z_stream s{};
  std::string packed(text.size() + 100, '\0');
  EXPECT_EQ(deflateInit2(&s, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  s.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  s.avail_in = static_cast<uInt>(text.size());
  s.next_out = reinterpret_cast<Bytef*>(packed.data());
  s.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&s, Z_FINISH), Z_STREAM_END);
  packed.resize(s.total_out);
  deflateEnd(&s);
  return packed;
}

}  // namespace heed
