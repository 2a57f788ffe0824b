// How many bytes a text has as an .xz file of preset 6, what `xz` and Python's lzma.compress()
// write.
#pragma once

#include <lzma.h>

#include <cstdint>
#include <string_view>

namespace heed {

class XzSize {
 public:
  XzSize();  // std::bad_alloc if there is no room for the 100 MB that xz needs
  ~XzSize() { lzma_end(&stream_); }
  XzSize(const XzSize&) = delete;
  XzSize& operator=(const XzSize&) = delete;

  void add(std::string_view text) { encode(text, LZMA_RUN); }
  std::uint64_t finish();

 private:
  void encode(std::string_view text, lzma_action action);
  lzma_stream stream_ = LZMA_STREAM_INIT;
};

}  // namespace heed
