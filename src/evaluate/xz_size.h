// The size in bytes of a text as an .xz file of preset 6, which `xz` and Python's lzma.compress()
// write.
#pragma once

#include <lzma.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <new>
#include <string_view>

namespace heed {

class XzSize {
 public:
  static constexpr double kLookBack = 8 << 20;  // bytes; text further back makes no difference

  XzSize() {  // std::bad_alloc if there is no room for the 100 MB that xz needs
    if (lzma_easy_encoder(&stream_, LZMA_PRESET_DEFAULT, LZMA_CHECK_CRC64) != LZMA_OK)
      throw std::bad_alloc();
  }
  ~XzSize() { lzma_end(&stream_); }
  XzSize(const XzSize&) = delete;
  XzSize& operator=(const XzSize&) = delete;

  void add(std::string_view text) { encode(text, LZMA_RUN); }
  std::uint64_t finish() {
    encode("", LZMA_FINISH);
    return stream_.total_out;
  }

  // The most memory that a text of `bytes` takes: a hash table, and the text with a tree over it.
  static double memory(double bytes) { return 17e6 + 9 * std::min(bytes, kLookBack); }

 private:
  void encode(std::string_view text, lzma_action action) {
    std::array<std::uint8_t, 4096> written;  // only its size matters
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(text.data());
    stream_.avail_in = text.size();
    while (action == LZMA_FINISH || stream_.avail_in > 0) {
      stream_.next_out = written.data();
      stream_.avail_out = written.size();
      const lzma_ret result = lzma_code(&stream_, action);
      if (result == LZMA_STREAM_END) return;
      if (result != LZMA_OK) throw std::bad_alloc();  // any other error would be a bug
    }
  }

  lzma_stream stream_ = LZMA_STREAM_INIT;
};

}  // namespace heed
