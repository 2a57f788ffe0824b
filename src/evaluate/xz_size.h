// How many bytes a text has as an .xz file of preset 6, what `xz` and Python's lzma.compress()
// write.
#pragma once

#include <lzma.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace heed {

class XzSize {
 public:
  static constexpr double kLookBack = 8 << 20;  // bytes: what is further back does not matter

  XzSize();  // std::bad_alloc if there is no room for the 100 MB that xz needs
  ~XzSize() { lzma_end(&stream_); }
  XzSize(const XzSize&) = delete;
  XzSize& operator=(const XzSize&) = delete;

  void add(std::string_view text) { encode(text, LZMA_RUN); }
  std::uint64_t finish();

  // Bytes that it takes for so much text, at most: a hash table, and the text with a tree over it.
  static double memory(double bytes) { return 17e6 + 9 * std::min(bytes, kLookBack); }

 private:
  void encode(std::string_view text, lzma_action action);
  lzma_stream stream_ = LZMA_STREAM_INIT;
};

}  // namespace heed
